import LarderModel
import LarderPrograms

/// Reads the records of a CSV file (RFC 4180). A record may also end with LF alone, another byte
/// may separate the fields, and a byte order mark is skipped.
///
/// The fields of a record are ranges of a buffer, so that a field costs no allocation. An empty
/// field is nil and `""` is the empty string, as `CSVWriter` writes them.
struct CSVReader {
    static let recordBytesMax = Limits.frameBytesMax
    /// Many more than the properties of an entity, because columns may be left out.
    static let fieldsMax = 100_000

    /// A field of the current record, without its quotation marks.
    private struct Field {
        let start: Int
        let end: Int
        let isQuoted: Bool
        /// Whether it contains quotation marks, which are doubled.
        var hasQuotes = false
    }

    private let file: InputFile
    private let delimiter: UInt8

    /// The bytes from the current record on, as far as they have been read.
    private var bytes: [UInt8] = []
    private var isAtEnd = false
    private var fields: [Field] = []
    /// The offset and the line at which the next record begins.
    private var nextStart = 0
    private var nextLine = 1
    /// The line on which the current record begins.
    private(set) var line = 1
    /// Whether the current record has only ASCII characters.
    private var isASCII = true
    /// The offset of the current record.
    private var recordStart = 0
    /// Whether the line of the last record has not been ended yet.
    private var isLineOpen = false

    /// Whether an empty line is a record with one field, which is nil. Otherwise it is skipped.
    var readsEmptyLines = false

    init(_ file: InputFile, delimiter: UInt8) {
        self.file = file
        self.delimiter = delimiter
    }

    /// The number of fields of the current record.
    var fieldCount: Int { fields.count }

    /// The length of the current record, in bytes.
    private(set) var byteCount = 0

    /// The current record as it is in the file, without the end of its line.
    var record: ArraySlice<UInt8> { bytes[recordStart..<(recordStart + byteCount)] }

    /// Reads the next record; false after the last.
    mutating func next() throws(LarderError) -> Bool {
        if bytes.isEmpty && !isAtEnd { try begin() }
        while true {
            if readsEmptyLines { skipLineEnd() } else { skipEmptyLines() }
            line = nextLine
            if nextStart == bytes.count && isAtEnd { return false }
            if try scan() { return true }
            try readMore()
        }
    }

    /// The text of a field in UTF-8; nil for an empty field without quotation marks.
    ///
    /// - Throws: `malformedValue` for other bytes. The error does not name the line.
    func field(_ index: Int) throws(LarderError) -> ArraySlice<UInt8>? {
        let field = fields[index]
        if field.start == field.end && !field.isQuoted { return nil }
        let text = field.hasQuotes ? unquoted(field)[...] : bytes[field.start..<field.end]
        guard isASCII || String(validating: text, as: UTF8.self) != nil else {
            throw LarderError(
                .malformedValue, "field \(index + 1) is not valid UTF-8",
                hint: "convert the file, for example: iconv -f latin1 -t utf-8 FILE > NEWFILE")
        }
        return text
    }

    /// The field as a string.
    func text(_ index: Int) throws(LarderError) -> String? {
        try field(index).map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: Scanning

    private mutating func skipEmptyLines() {
        while nextStart < bytes.count, bytes[nextStart].isLineEnd {
            if bytes[nextStart] == UInt8(ascii: "\n") { nextLine += 1 }
            nextStart += 1
        }
    }

    private mutating func skipLineEnd() {
        guard isLineOpen else { return }
        isLineOpen = false
        if nextStart < bytes.count, bytes[nextStart] == UInt8(ascii: "\r") { nextStart += 1 }
        if nextStart < bytes.count, bytes[nextStart] == UInt8(ascii: "\n") {
            nextStart += 1
            nextLine += 1
        }
    }

    /// Finds the fields of the next record; false if its end has not been read yet.
    private mutating func scan() throws(LarderError) -> Bool {
        fields.removeAll(keepingCapacity: true)
        let bytes = bytes
        let end = bytes.count
        var offset = nextStart
        var lineCount = 1
        while true {
            let field: Field
            if offset < end, bytes[offset] == .quotationMark {
                guard let found = try quoted(from: offset, &lineCount) else { return false }
                field = found
                offset = field.end + 1
            } else {
                let start = offset
                while offset < end, bytes[offset] != delimiter, !bytes[offset].isLineEnd {
                    offset += 1
                }
                field = Field(start: start, end: offset, isQuoted: false)
            }
            fields.append(field)
            guard fields.count <= Self.fieldsMax else {
                throw failure(
                    line, "the record has more than the maximum of \(Self.fieldsMax) fields",
                    hint: "cut -d, -f1-\(Limits.propertiesMax) FILE leaves columns out")
            }
            guard offset < end else {
                if isAtEnd { complete(at: offset, lineCount) }
                return isAtEnd
            }
            if bytes[offset] == delimiter {
                offset += 1
                continue
            }
            guard try isEnd(offset, line + lineCount - 1) else { return false }
            complete(at: offset, lineCount)
            return true
        }
    }

    /// A field in quotation marks; nil if its end has not been read yet.
    private func quoted(from start: Int, _ lineCount: inout Int) throws(LarderError) -> Field? {
        var hasQuotes = false
        var offset = start + 1
        while offset < bytes.count {
            let byte = bytes[offset]
            if byte == .quotationMark {
                guard offset + 1 < bytes.count || isAtEnd else { return nil }
                guard offset + 1 < bytes.count, bytes[offset + 1] == .quotationMark else {
                    return Field(
                        start: start + 1, end: offset, isQuoted: true, hasQuotes: hasQuotes)
                }
                hasQuotes = true
                offset += 1
            } else if byte == UInt8(ascii: "\n") {
                lineCount += 1
            }
            offset += 1
        }
        guard !isAtEnd else { throw failure(line, "the quotation mark is not closed") }
        return nil
    }

    /// Checks that the record ends at an offset; false if the next byte has to be read first.
    private func isEnd(_ offset: Int, _ line: Int) throws(LarderError) -> Bool {
        if bytes[offset] == UInt8(ascii: "\n") { return true }
        guard bytes[offset] == UInt8(ascii: "\r") else {
            throw failure(
                line, "unexpected text after the closing quotation mark",
                hint: "write two quotation marks for one in a quoted field")
        }
        guard offset + 1 < bytes.count || isAtEnd else { return false }
        guard offset + 1 == bytes.count || bytes[offset + 1] == UInt8(ascii: "\n") else {
            throw failure(
                line, "a carriage return without a line feed",
                hint: "end lines with LF or CR LF, and put a field with a carriage return in "
                    + "quotation marks")
        }
        return true
    }

    private mutating func complete(at offset: Int, _ lineCount: Int) {
        recordStart = nextStart
        isLineOpen = true
        byteCount = offset - nextStart
        isASCII = bytes[nextStart..<offset].allSatisfy { $0 < 0x80 }
        nextStart = offset
        // The line feed at the end is counted when it is skipped.
        nextLine += lineCount - 1
    }

    private func unquoted(_ field: Field) -> [UInt8] {
        var result: [UInt8] = []
        var isFirstOfTwo = false
        for byte in bytes[field.start..<field.end] {
            isFirstOfTwo = byte == .quotationMark && !isFirstOfTwo
            if !isFirstOfTwo { result.append(byte) }
        }
        return result
    }

    // MARK: Reading

    /// Reads the beginning and skips a byte order mark.
    private mutating func begin() throws(LarderError) {
        try FileKind.check(file)
        while bytes.count < 3, !isAtEnd { try readMore() }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { nextStart = 3 }
    }

    /// Reads as many bytes again as the record has, so that a long record is not scanned too often.
    private mutating func readMore() throws(LarderError) {
        bytes.removeFirst(nextStart)
        nextStart = 0
        guard bytes.count <= Self.recordBytesMax else {
            throw LarderError(
                .resourceExhausted,
                """
                \(file.name), line \(line): \
                the record is longer than the maximum of \(Self.recordBytesMax) bytes
                """,
                hint: "a quotation mark that is not closed makes a record of the rest of the file")
        }
        let wanted = min(max(1, 2 * bytes.count), Self.recordBytesMax + 1)
        while bytes.count < wanted, !isAtEnd {
            let chunk = try file.read()
            bytes += chunk
            isAtEnd = chunk.isEmpty
        }
    }

    private func failure(_ line: Int, _ message: String, hint: String? = nil) -> LarderError {
        LarderError(.malformedValue, "\(file.name), line \(line): \(message)", hint: hint)
    }
}

extension UInt8 {
    fileprivate static let quotationMark = UInt8(ascii: "\"")

    fileprivate var isLineEnd: Bool { self == UInt8(ascii: "\n") || self == UInt8(ascii: "\r") }
}
