import LarderModel
import LarderPrograms

/// Reads the texts of JSON objects: the lines of a file, or the elements of its array. The first
/// character of the file says which.
struct JSONTextReader {
    private enum Form {
        case lines(LineReader)
        case elements(JSONElementReader)
    }

    private let file: InputFile
    /// The maximum length of all texts together; nil for no limit.
    private let bytesMax: Int?
    private var bytesRead = 0
    private var objectBytes: Int?
    private var form: Form?
    /// Whether no object has been read yet, so that the file may have another format.
    private var isFirst = true

    private static let firstLineHint =
        "the file must have one JSON object per line, or be an array of objects; import reads CSV "
        + "with --format csv"

    init(_ file: InputFile, bytesMax: Int? = nil) {
        self.file = file
        self.bytesMax = bytesMax
    }

    mutating func acceptObjects(ofBytes bytes: Int) { objectBytes = bytes }

    /// The next text and the line on which it begins; nil after the last.
    mutating func next() throws(LarderError) -> LineReader.Line? {
        if form == nil { form = try makeForm() }
        switch form {
        case .lines(var reader)?:
            // The copy in the enumeration would make each change a copy of the chunk.
            form = nil
            defer { form = .lines(reader) }
            return try reader.nextFilled()
        case .elements(var reader)?:
            form = nil
            defer { form = .elements(reader) }
            guard let line = try reader.next() else { return nil }
            bytesRead += line.text.utf8.count
            guard bytesMax.map({ bytesRead <= $0 }) ?? true else {
                throw LineReader.tooLong(file.name, line: line.number)
            }
            return line
        case nil: return nil
        }
    }

    /// Parses a text as an object.
    mutating func object(of line: LineReader.Line) throws(LarderError) -> [String: JSONValue] {
        let json: JSONValue
        do throws(LarderError) {
            json = try JSONValue(parsing: line.text)
        } catch {
            let isOtherFormat = isFirst && !line.text.hasPrefix("{")
            throw isOtherFormat ? error.adding(hint: Self.firstLineHint) : error
        }
        guard case .object(let members) = json else {
            throw LarderError(
                .malformedValue, "the line is not a JSON object",
                hint: isFirst ? Self.firstLineHint : nil)
        }
        isFirst = false
        return members
    }

    private func makeForm() throws(LarderError) -> Form {
        try FileKind.check(file)
        // White space before the array is short in practice; a longer one is read as lines.
        let start = try file.prefix(4 << 10)
        let content = start.starts(with: [0xEF, 0xBB, 0xBF]) ? start.dropFirst(3) : start
        let first = content.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let longest = objectBytes.map { LineReader.lineBytesMax(objectBytesMax: $0) }
        if first == UInt8(ascii: "[") || isOneObject(content) {
            return .elements(
                JSONElementReader(file, bytesMax: bytesMax ?? longest ?? Limits.frameBytesMax))
        }
        var reader = LineReader(file, bytesMax: bytesMax)
        if let objectBytes { reader.acceptObjects(ofBytes: objectBytes) }
        return .lines(reader)
    }

    /// Whether the file begins with an object over several lines: its first line is `{`.
    private func isOneObject(_ content: ArraySlice<UInt8>) -> Bool {
        let line = content.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }.prefix { $0 != 0x0A }
        return line.filter { ![0x20, 0x09, 0x0D].contains($0) } == [UInt8(ascii: "{")]
    }
}
