import LarderModel

/// Renames the keys of JSON objects to properties, leaves keys out, and reads values that are
/// written in another form than in Larder's JSON.
struct JSONMapping {
    private let format: FileFormat
    private let decoder: ObjectDecoder
    /// The decoder of each attribute whose values may have another form, by the key.
    private var fields: [String: CSVFieldDecoder] = [:]
    private let isNeeded: Bool

    /// - Throws: `unknownProperty` for a property that does not exist.
    init(_ format: FileFormat, _ decoder: ObjectDecoder) throws(LarderError) {
        self.format = format
        self.decoder = decoder
        isNeeded =
            !format.mapping.isEmpty || !format.nulls.isEmpty || format.numbers != nil
            || !format.dateFormats.isEmpty || !format.columnDateFormats.isEmpty
        let keys = Dictionary(
            format.mapping.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        for (key, property) in format.mapping.sorted(by: { $0.key < $1.key })
        where !property.isEmpty && decoder.relatedPath(property) == nil {
            do throws(LarderError) {
                _ = try decoder.property(property)
            } catch {
                var named = error
                named.message =
                    "--map \(EscapedText.escaped(String(key.prefix(40)))): \(error.message)"
                throw named
            }
        }
        for attribute in decoder.entity.attributes where isNeeded && !attribute.isDerived {
            let key = keys[attribute.name] ?? attribute.name
            fields[key] = CSVFieldDecoder(
                attribute, "\(decoder.entity.name).\(attribute.name)", format.values(of: [key]),
                assumesUTC: decoder.assumesUTC)
        }
    }

    /// The members with the names of properties.
    func members(_ members: [String: JSONValue]) throws(LarderError) -> [String: JSONValue] {
        guard isNeeded else { return members }
        var result: [String: JSONValue] = [:]
        for (key, json) in members.sorted(by: { $0.key < $1.key }) {
            let name = format.mapping[key] ?? key
            if name.isEmpty { continue }
            guard result[name] == nil else {
                throw LarderError(
                    .malformedValue, "more than one key has a value of \(name)",
                    hint: "leave a key out with --map 'key='")
            }
            if let value = try fields[key]?.value(json: json) {
                result[name] = value.jsonValue
            } else if case .string(let text) = json, format.nulls.contains(text) {
                result[name] = .null
            } else {
                result[name] = json
            }
        }
        return result
    }
}
