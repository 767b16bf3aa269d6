import FoundationEssentials
import LarderModel

/// The text of one object line or link line.
///
/// Values have the form of `Value.jsonValue`, with two differences: a json document is a string
/// that contains its text, because the document `null` is not nil and the text of a document is a
/// value too; and objects are short identifiers.
struct DumpLine {
    /// The name of a member as it is written, which many lines share.
    struct Name {
        let text: String
        fileprivate let bytes: [UInt8]

        init(_ text: String) {
            self.text = text
            bytes = Array(",\(JSONValue.string(text).text):".utf8)
        }
    }

    private var bytes: [UInt8] = []

    /// - Parameter member: `@id` or `@link`.
    init(_ member: String, _ object: PersistentIdentifier) {
        bytes += #"{"\#(member)":"\#(object.shortText)""#.utf8
    }

    mutating func append(_ name: Name, _ value: Value) {
        bytes += name.bytes
        switch value {
        case .int(let integer) where integer.magnitude <= 1 << 53:
            bytes += integer.description.utf8
        case .json(let document): bytes += JSONValue.string(document).text.utf8
        case .object(let object): append(object)
        case .objects(let list):
            bytes.append(UInt8(ascii: "["))
            for (index, object) in list.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                append(object)
            }
            bytes.append(UInt8(ascii: "]"))
        default: bytes += value.jsonValue.text.utf8
        }
    }

    /// Completes the line.
    mutating func end() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private mutating func append(_ object: PersistentIdentifier) {
        bytes += #""\#(object.shortText)""#.utf8
    }
}
