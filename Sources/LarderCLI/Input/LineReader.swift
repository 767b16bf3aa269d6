import LarderModel

/// The lines of a file, numbered from 1, without their ends (LF, or CR LF).
struct LineReader {
    /// A line longer than a frame could not be sent anyway.
    static let lineBytesMax = Limits.frameBytesMax

    struct Line {
        let number: Int
        let text: String

        var isBlank: Bool { text.utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 } }
    }

    /// The lines of one change set, together. JSON may be several times as long as the message
    /// that it becomes, which is one frame.
    static let changeSetBytesMax = 4 * Limits.frameBytesMax

    private let file: InputFile
    private var piece: ArraySlice<UInt8> = []
    private var number = 0
    private var bytesLeft: Int?

    /// - Parameter bytesMax: Of all lines together, where they are kept; nil sets no bound.
    init(_ file: InputFile, bytesMax: Int? = nil) {
        self.file = file
        self.bytesLeft = bytesMax
    }

    /// The next line; nil after the last.
    mutating func next() throws(LarderError) -> Line? {
        var bytes: [UInt8] = []
        while true {
            if piece.isEmpty {
                piece = try file.read()
                if piece.isEmpty {
                    return bytes.isEmpty ? nil : try line(bytes)
                }
            }
            let end = piece.firstIndex(of: UInt8(ascii: "\n"))
            bytes += piece[..<(end ?? piece.endIndex)]
            piece = end.map { piece[($0 + 1)...] } ?? []
            guard bytes.count <= Self.lineBytesMax else {
                throw LarderError(
                    .resourceExhausted,
                    "\(file.name), line \(number + 1): longer than \(Self.lineBytesMax) bytes")
            }
            if end != nil { return try line(bytes) }
        }
    }

    private mutating func line(_ bytes: [UInt8]) throws(LarderError) -> Line {
        number += 1
        if let left = bytesLeft {
            guard bytes.count <= left else {
                throw LarderError(
                    .resourceExhausted,
                    "\(file.name), line \(number): more than one change set may hold",
                    hint: "split it, or use import, which takes any number of objects")
            }
            bytesLeft = left - bytes.count
        }
        let content = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes[...]
        guard let text = String(validating: content, as: UTF8.self) else {
            throw LarderError(.malformedValue, "\(file.name), line \(number): not UTF-8")
        }
        return Line(number: number, text: text)
    }
}
