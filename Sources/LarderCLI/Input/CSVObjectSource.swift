import LarderModel
import LarderPrograms

/// Reads objects from a CSV file. The first record, the header, names the properties.
struct CSVObjectSource: ObjectSource {
    private let fileName: String
    private var reader: CSVReader
    private let decoder: ObjectDecoder
    /// The property of each field; nil for a field that is ignored, such as `@id`.
    private let names: [String?]

    init(_ file: InputFile, _ decoder: ObjectDecoder) throws(LarderError) {
        self.fileName = file.name
        self.reader = CSVReader(file)
        self.decoder = decoder
        guard let header = try reader.next() else {
            self.names = []
            return
        }
        do throws(LarderError) {
            var seen: Set<String> = []
            self.names = try header.fields.map { (field) throws(LarderError) in
                guard let field else {
                    throw LarderError(.malformedValue, "the header has an empty field")
                }
                guard seen.insert(field).inserted else {
                    throw LarderError(
                        .malformedValue, "the header contains \(field) more than once")
                }
                if ["@id", "@entity", "@version"].contains(field) { return nil }
                _ = try decoder.property(field)
                return field
            }
        } catch {
            throw error.at(line: header.line, of: file.name)
        }
    }

    mutating func next() throws(LarderError) -> SourceObject? {
        guard let record = try reader.next() else { return nil }
        do throws(LarderError) {
            guard record.fields.count == names.count else {
                let count = record.fields.count
                throw LarderError(
                    .malformedValue,
                    "the record has \(count) \(count == 1 ? "field" : "fields"), "
                        + "the header \(names.count)")
            }
            var values: [String: Value] = [:]
            for (name, field) in zip(names, record.fields) {
                guard let name else { continue }
                values[name] = try decoder.value(field: field, named: name)
            }
            let byteCount = record.fields.reduce(0) { $0 + ($1?.utf8.count ?? 0) }
            return SourceObject(
                content: ObjectContent(values: values), line: record.line, byteCount: byteCount)
        } catch {
            throw error.at(line: record.line, of: fileName)
        }
    }
}
