import LarderModel
import LarderPrograms

/// Reads objects from JSON lines: one object per line. Skips blank lines.
struct JSONLinesObjectSource: ObjectSource {
    private let fileName: String
    private var reader: LineReader
    private let decoder: ObjectDecoder
    /// Whether no object has been read yet, so that the file may have another format.
    private var isFirst = true

    private static let firstLineHint =
        "the file must have one JSON object per line; jq -c '.[]' makes that of an array, and "
        + "import reads CSV with --format csv"

    init(_ file: InputFile, _ decoder: ObjectDecoder, bytesMax: Int? = nil) {
        self.fileName = file.name
        self.reader = LineReader(file, bytesMax: bytesMax)
        self.decoder = decoder
    }

    /// Reads lines with objects as long as those of a server.
    mutating func acceptObjects(ofBytes bytes: Int) { reader.acceptObjects(ofBytes: bytes) }

    mutating func next() throws(LarderError) -> SourceObject? {
        guard let line = try reader.nextFilled() else { return nil }
        do throws(LarderError) {
            let json: JSONValue
            do throws(LarderError) {
                json = try JSONValue(parsing: line.text)
            } catch {
                throw isFirst ? error.adding(hint: Self.firstLineHint) : error
            }
            guard case .object(let members) = json else {
                throw LarderError(
                    .malformedValue, "the line is not a JSON object",
                    hint: isFirst ? Self.firstLineHint : nil)
            }
            isFirst = false
            return SourceObject(
                content: try decoder.content(members), line: line.number,
                byteCount: line.text.utf8.count)
        } catch {
            throw error.at(line: line.number, of: fileName)
        }
    }
}
