import LarderModel
import LarderPrograms

/// Reads the records of a CSV file (RFC 4180). A record may also end with LF alone.
///
/// An empty field is nil and `""` is the empty string, as `CSVWriter` writes them.
struct CSVReader {
    static let recordBytesMax = Limits.frameBytesMax
    static let fieldsMax = Limits.propertiesMax

    struct CSVRecord {
        /// The line on which the record begins.
        let line: Int
        let fields: [String?]
    }

    private let file: InputFile
    private var chunk: ArraySlice<UInt8> = []
    private var line = 1

    init(_ file: InputFile) { self.file = file }

    /// The next record; nil after the last. Empty lines are skipped.
    mutating func next() throws(LarderError) -> CSVRecord? {
        while let byte = try peek(), byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
            try skip()
        }
        guard try peek() != nil else { return nil }
        let start = line
        var fields: [String?] = []
        var bytesLeft = Self.recordBytesMax
        while true {
            fields.append(try field(start, &bytesLeft))
            guard fields.count <= Self.fieldsMax else {
                throw failure(
                    start, "the record has more than the maximum of \(Self.fieldsMax) fields")
            }
            guard try peek() == UInt8(ascii: ",") else { break }
            try skip()
        }
        if try peek() == UInt8(ascii: "\r") { try skip() }
        if let byte = try peek(), byte != UInt8(ascii: "\n") {
            throw failure(line, "unexpected text after the closing quotation mark")
        }
        return CSVRecord(line: start, fields: fields)
    }

    private mutating func field(_ start: Int, _ bytesLeft: inout Int) throws(LarderError) -> String?
    {
        let isQuoted = try peek() == UInt8(ascii: "\"")
        let bytes = isQuoted ? try quoted(start, &bytesLeft) : try bare(start, &bytesLeft)
        if bytes.isEmpty && !isQuoted { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw failure(start, "not valid UTF-8")
        }
        return text
    }

    private mutating func bare(_ start: Int, _ bytesLeft: inout Int) throws(LarderError) -> [UInt8]
    {
        var bytes: [UInt8] = []
        while let byte = try peek(), byte != UInt8(ascii: ","), byte != UInt8(ascii: "\n"),
            byte != UInt8(ascii: "\r")
        {
            try append(byte, to: &bytes, start, &bytesLeft)
        }
        return bytes
    }

    private mutating func quoted(
        _ start: Int, _ bytesLeft: inout Int
    ) throws(LarderError) -> [UInt8] {
        var bytes: [UInt8] = []
        try skip()
        while let byte = try peek() {
            if byte == UInt8(ascii: "\"") {
                try skip()
                guard try peek() == UInt8(ascii: "\"") else { return bytes }
            }
            try append(byte, to: &bytes, start, &bytesLeft)
        }
        throw failure(start, "the quotation mark is not closed")
    }

    private mutating func append(
        _ byte: UInt8, to bytes: inout [UInt8], _ start: Int, _ bytesLeft: inout Int
    ) throws(LarderError) {
        bytesLeft -= 1
        guard bytesLeft >= 0 else {
            throw LarderError(
                .resourceExhausted,
                """
                \(file.name), line \(start): \
                the record is longer than the maximum of \(Self.recordBytesMax) bytes
                """)
        }
        bytes.append(byte)
        try skip()
    }

    private mutating func peek() throws(LarderError) -> UInt8? {
        if chunk.isEmpty { chunk = try file.read() }
        return chunk.first
    }

    private mutating func skip() throws(LarderError) {
        if chunk.popFirst() == UInt8(ascii: "\n") { line += 1 }
    }

    private func failure(_ line: Int, _ message: String) -> LarderError {
        LarderError(.malformedValue, "\(file.name), line \(line): \(message)")
    }
}
