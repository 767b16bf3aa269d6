import LarderModel
import LarderPrograms

/// Reads objects from JSON: one object per line, or the elements of one array. Skips blank lines.
struct JSONObjectSource: ObjectSource {
    private let fileName: String
    private var reader: JSONTextReader
    private let decoder: ObjectDecoder
    private let mapping: JSONMapping?
    /// Whether the objects have their texts.
    var keepsTexts = false
    private(set) var badRow: SourceRow?

    /// - Parameter format: The form of the values; nil for JSON's own, with names of properties.
    init(
        _ file: InputFile, _ decoder: ObjectDecoder, bytesMax: Int? = nil,
        _ format: FileFormat? = nil
    ) throws(LarderError) {
        self.fileName = file.name
        self.reader = JSONTextReader(file, bytesMax: bytesMax)
        self.decoder = decoder
        mapping = try format.map { (format) throws(LarderError) in
            try JSONMapping(format, decoder)
        }
    }

    /// Reads lines with objects as long as those of a server.
    mutating func acceptObjects(ofBytes bytes: Int) { reader.acceptObjects(ofBytes: bytes) }

    mutating func next() throws(LarderError) -> SourceObject? {
        badRow = nil
        guard let line = try reader.next() else { return nil }
        let text = keepsTexts ? Array(line.text.utf8) : []
        do throws(LarderError) {
            let members = try reader.object(of: line)
            return SourceObject(
                content: try decoder.content(mapping?.members(members) ?? members),
                line: line.number, byteCount: line.text.utf8.count, text: text)
        } catch {
            badRow = SourceRow(line: line.number, text: text)
            throw error.at(line: line.number, of: fileName)
        }
    }
}
