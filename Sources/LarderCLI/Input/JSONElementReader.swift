import LarderModel
import LarderPrograms

/// Reads the elements of a JSON array one by one, or JSON objects with white space between them,
/// without the whole file in memory.
///
/// It finds the end of each element by its brackets and quotation marks. The parser of the element
/// checks everything else.
struct JSONElementReader {
    private let file: InputFile
    private let bytesMax: Int
    private var chunk: ArraySlice<UInt8> = []
    private var line = 1
    private var hasBegun = false
    private var isArray = false
    private var isFirstElement = true

    init(_ file: InputFile, bytesMax: Int) {
        self.file = file
        self.bytesMax = bytesMax
    }

    /// The next element and the line on which it begins; nil after the last.
    mutating func next() throws(LarderError) -> LineReader.Line? {
        if !hasBegun { try begin() }
        guard let byte = try firstByte() else {
            guard !isArray else { throw failure("the array is not closed") }
            return nil
        }
        guard isArray else { return try element() }
        if byte == UInt8(ascii: "]") {
            chunk = chunk.dropFirst()
            isArray = false
            guard try firstByte() == nil else { throw failure("there is text after the array") }
            return nil
        }
        if !isFirstElement {
            guard byte == UInt8(ascii: ",") else { throw failure("expected `,` or `]`") }
            chunk = chunk.dropFirst()
            guard try firstByte() != nil else { throw failure("the array is not closed") }
        }
        isFirstElement = false
        return try element()
    }

    private mutating func begin() throws(LarderError) {
        hasBegun = true
        if try file.prefix(3).elementsEqual([0xEF, 0xBB, 0xBF]) {
            chunk = try file.read().dropFirst(3)
        }
        guard try firstByte() == UInt8(ascii: "[") else { return }
        isArray = true
        chunk = chunk.dropFirst()
    }

    /// The next byte that is not white space; nil at the end of the file.
    private mutating func firstByte() throws(LarderError) -> UInt8? {
        while true {
            if chunk.isEmpty {
                chunk = try file.read()
                if chunk.isEmpty { return nil }
            }
            var offset = chunk.startIndex
            while offset < chunk.endIndex, chunk[offset].isJSONSpace {
                if chunk[offset] == UInt8(ascii: "\n") { line += 1 }
                offset += 1
            }
            chunk = chunk[offset...]
            if let byte = chunk.first { return byte }
        }
    }

    /// Reads from the first byte of an element to its end.
    private mutating func element() throws(LarderError) -> LineReader.Line {
        let start = line
        var bytes: [UInt8] = []
        var scanner = ElementScanner()
        while !scanner.isAtEnd {
            if chunk.isEmpty { chunk = try file.read() }
            if chunk.isEmpty {
                guard scanner.endsWithFile else { throw failure("the element is not complete") }
                break
            }
            let end = scanner.scan(chunk)
            line += chunk[..<end].reduce(0) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
            bytes += chunk[..<end]
            chunk = chunk[end...]
            guard bytes.count <= bytesMax else {
                throw LarderError(
                    .resourceExhausted,
                    "\(file.name), line \(start): the element is longer than the maximum of "
                        + "\(bytesMax) bytes")
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw LarderError(
                .malformedValue, "\(file.name), line \(start): not valid UTF-8",
                hint: "convert the file, for example: iconv -f latin1 -t utf-8 FILE > NEWFILE")
        }
        return LineReader.Line(number: start, text: text)
    }

    private func failure(_ message: String) -> LarderError {
        LarderError(.malformedValue, "\(file.name), line \(line): JSON: \(message)")
    }
}

/// Finds the end of a JSON value.
private struct ElementScanner {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var hasBegun = false
    private(set) var isAtEnd = false

    /// Whether the end of the file ends the value: it has no brackets or quotation marks.
    var endsWithFile: Bool { hasBegun && depth == 0 && !isInString }

    /// The end of the part of the value in the bytes.
    mutating func scan(_ bytes: ArraySlice<UInt8>) -> Int {
        var offset = bytes.startIndex
        while offset < bytes.endIndex {
            let byte = bytes[offset]
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                    isAtEnd = depth == 0
                }
            } else if hasBegun, depth == 0,
                byte.isJSONSpace || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]")
            {
                isAtEnd = true
                return offset
            } else {
                isInString = byte == UInt8(ascii: "\"")
                if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") { depth += 1 }
                if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
                    depth -= 1
                    isAtEnd = depth <= 0
                }
            }
            hasBegun = true
            offset += 1
            if isAtEnd { return offset }
        }
        return offset
    }
}

extension UInt8 {
    fileprivate var isJSONSpace: Bool { [0x20, 0x09, 0x0A, 0x0D].contains(self) }
}
