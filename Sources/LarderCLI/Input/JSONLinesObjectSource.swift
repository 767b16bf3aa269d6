import LarderModel
import LarderPrograms

/// Reads the objects of one entity from a file.
protocol ObjectSource {
    /// The next object; nil after the last.
    mutating func next() throws(LarderError) -> SourceObject?
}

/// An object of a file.
struct SourceObject {
    let content: ObjectContent
    /// The line on which the object begins.
    let line: Int
    /// The length of its text.
    let byteCount: Int
}

/// Reads objects from JSON lines: one object per line. Blank lines are skipped.
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
