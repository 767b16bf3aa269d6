import LarderModel
import LarderPrograms

/// Reads objects from JSON lines: one object per line. Skips blank lines.
struct JSONLinesObjectSource: ObjectSource {
    private let fileName: String
    private var reader: LineReader
    private let decoder: ObjectDecoder

    init(_ file: InputFile, _ decoder: ObjectDecoder, bytesMax: Int? = nil) {
        self.fileName = file.name
        self.reader = LineReader(file, bytesMax: bytesMax)
        self.decoder = decoder
    }

    mutating func next() throws(LarderError) -> SourceObject? {
        while let line = try reader.next() {
            guard !line.isBlank else { continue }
            do throws(LarderError) {
                guard case .object(let members) = try JSONValue(parsing: line.text) else {
                    throw LarderError(.malformedValue, "the line is not a JSON object")
                }
                return SourceObject(
                    content: try decoder.content(members), line: line.number,
                    byteCount: line.text.utf8.count)
            } catch {
                throw error.at(line: line.number, of: fileName)
            }
        }
        return nil
    }
}
