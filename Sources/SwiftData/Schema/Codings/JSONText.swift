internal import Foundation
internal import LarderModel

/// The JSON documents of attributes.
///
/// Equal values have equal documents, so that a save of an unchanged value changes nothing: keys
/// are sorted, and so are the elements of a set and the pairs of a dictionary. Dates have the form
/// of the store, by which predicates compare them.
enum JSONText {
    static func encode<Member: Encodable>(_ value: Member) throws -> String {
        if let unordered = value as? any UnorderedCollection {
            return try unordered.sortedJSON()
        }
        return try text(of: value)
    }

    static func decode<Member: Decodable>(_ type: Member.Type, from text: String) -> Member? {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            if let seconds = try? container.decode(Double.self) {
                return Date(timeIntervalSinceReferenceDate: seconds)
            }
            guard let date = Date(text: try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "the text is not a date")
            }
            return date
        }
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try? decoder.decode(type, from: Data(text.utf8))
    }

    fileprivate static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.text)
        }
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

/// A collection whose elements have no order.
private protocol UnorderedCollection {
    /// The document with the elements in the order of their texts.
    func sortedJSON() throws -> String
}

extension Set: UnorderedCollection {
    fileprivate func sortedJSON() throws -> String {
        let elements = try map { try JSONText.any($0) }.sorted()
        return "[\(elements.joined(separator: ","))]"
    }
}

extension Dictionary: UnorderedCollection {
    fileprivate func sortedJSON() throws -> String {
        // Dictionaries with such keys are objects, whose keys are sorted.
        let isObject =
            Key.self == String.self || Key.self == Int.self
            || Key.self is any CodingKeyRepresentable.Type
        if isObject, let value = self as? any Encodable { return try JSONText.text(of: value) }
        let pairs = try map { (try JSONText.any($0), try JSONText.any($1)) }.sorted(by: <)
        return "[\(pairs.map { "\($0),\($1)" }.joined(separator: ","))]"
    }
}

extension JSONText {
    fileprivate static func any(_ value: Any) throws -> String {
        guard let value = value as? any Encodable else {
            throw AttributeCodingError(value: "\(type(of: value))", type: nil)
        }
        return try encode(value)
    }
}
