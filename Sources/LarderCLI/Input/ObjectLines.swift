import LarderModel

/// One entity's objects, one after the other, from a file in one of two forms.
protocol ObjectSource {
    /// The next object; nil after the last.
    mutating func next() throws(LarderError) -> SourceObject?
}

/// An object as a file had it.
struct SourceObject {
    let content: ObjectContent
    /// The line on which it begins.
    let line: Int
    /// Of its text.
    let byteCount: Int
}

/// Objects as JSON lines. Blank lines are passed over.
struct ObjectLines: ObjectSource {
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
                    throw LarderError(.malformedValue, "not a JSON object")
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
