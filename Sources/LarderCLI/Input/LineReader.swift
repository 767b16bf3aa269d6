import LarderModel
import LarderPrograms

/// Reads the lines of a file, numbered from 1, without their line endings (LF, or CR LF) and
/// without a byte order mark.
struct LineReader {
    /// The longest line with an object of a number of bytes. A byte has up to six in JSON, such as
    /// `\u0001`, but not each byte of hundreds of megabytes has; names and links take the rest.
    static func lineBytesMax(objectBytesMax: Int) -> Int {
        min(6 * objectBytesMax, 2 * objectBytesMax + 256 << 20) + Limits.frameBytesMax
    }

    struct Line {
        let number: Int
        let text: String

        fileprivate var isBlank: Bool { text.utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 } }
    }

    /// The maximum length of all lines of one change set, which is in memory as a whole.
    static let changeSetBytesMax = 4 * Limits.frameBytesMax

    private let file: InputFile
    private var chunk: ArraySlice<UInt8> = []
    private var number = 0
    private var bytesLeft: Int?
    /// The maximum length of a line.
    private var lineBytesMax: Int

    /// - Parameter bytesMax: The maximum length of all lines together, if the caller keeps them
    ///   in memory; nil for no limit.
    init(_ file: InputFile, bytesMax: Int? = nil) {
        self.file = file
        self.bytesLeft = bytesMax
        lineBytesMax = bytesMax ?? Limits.frameBytesMax
    }

    /// The part of the file that was read; nil if its size is unknown.
    var readFraction: Double? { file.readFraction }

    /// Reads lines with objects of up to a number of bytes, if no other maximum is given.
    mutating func acceptObjects(ofBytes bytes: Int) {
        if bytesLeft == nil { lineBytesMax = Self.lineBytesMax(objectBytesMax: bytes) }
    }

    /// The next line that has more than white space; nil after the last.
    mutating func nextFilled() throws(LarderError) -> Line? {
        while true {
            try skipBlankLines()
            guard let line = try next() else { return nil }
            if !line.isBlank { return line }
        }
    }

    /// Skips blank lines without making a text of each, because a file may have millions of them.
    /// The rest of the chunk begins with a line that is not blank or not complete.
    private mutating func skipBlankLines() throws(LarderError) {
        while true {
            if chunk.isEmpty { chunk = try file.read() }
            let end = chunk.firstIndex { !$0.isWhiteSpace } ?? chunk.endIndex
            let blank = chunk[..<end]
            // The white space before the text of a line belongs to the columns of the line.
            guard let lastEnd = blank.lastIndex(of: UInt8(ascii: "\n")) else { return }
            number += blank[...lastEnd].count { $0 == UInt8(ascii: "\n") }
            chunk = chunk[(lastEnd + 1)...]
            guard chunk.isEmpty else { return }
        }
    }

    /// The next line; nil after the last.
    mutating func next() throws(LarderError) -> Line? {
        var bytes: [UInt8] = []
        while true {
            if chunk.isEmpty {
                chunk = try file.read()
                if chunk.isEmpty {
                    return bytes.isEmpty ? nil : try line(bytes)
                }
            }
            let end = chunk.firstIndex(of: UInt8(ascii: "\n"))
            bytes += chunk[..<(end ?? chunk.endIndex)]
            chunk = end.map { chunk[($0 + 1)...] } ?? []
            guard bytes.count <= lineBytesMax else {
                throw LarderError(
                    .resourceExhausted,
                    """
                    \(file.name), line \(number + 1): \
                    the line is longer than the maximum of \(lineBytesMax) bytes
                    """)
            }
            if end != nil { return try line(bytes) }
        }
    }

    private mutating func line(_ bytes: [UInt8]) throws(LarderError) -> Line {
        number += 1
        if let left = bytesLeft {
            guard bytes.count <= left else {
                throw Self.tooLong(file.name, line: number)
            }
            bytesLeft = left - bytes.count
        }
        var content = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes[...]
        if number == 1, content.starts(with: [0xEF, 0xBB, 0xBF]) { content = content.dropFirst(3) }
        guard let text = String(validating: content, as: UTF8.self) else {
            throw LarderError(.malformedValue, "\(file.name), line \(number): not valid UTF-8")
        }
        return Line(number: number, text: text)
    }

    /// The error for input that is longer than a change set may be.
    static func tooLong(_ fileName: String, line: Int) -> LarderError {
        LarderError(
            .resourceExhausted,
            "\(fileName), line \(line): the input is too long for one change set",
            hint: "split the input, or use import, which has no limit")
    }
}

extension UInt8 {
    fileprivate var isWhiteSpace: Bool {
        switch self {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: " "), UInt8(ascii: "\t"): true
        default: false
        }
    }
}
