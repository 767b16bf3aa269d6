import FoundationEssentials
import LarderModel

extension SQLValue {
    /// The value of an attribute with this stored form; nil if the type is never stored in this
    /// form, that is, if the file is damaged.
    package func value(of type: AttributeType) -> Value? {
        switch (type, self) {
        case (_, .null): .null
        case (.bool, .integer(let integer)): .bool(integer != 0)
        case (.int16, .integer(let integer)), (.int32, .integer(let integer)),
            (.int64, .integer(let integer)):
            .int(integer)
        case (.float, .real(let real)): .float(Float(real))
        case (.double, .real(let real)): .double(real)
        case (.date, .real(let real)): .date(Date(timeIntervalSinceReferenceDate: real))
        case (.decimal, .text(let text)): Decimal(exactly: text).map { .decimal($0) }
        case (.string, .text(let text)): .string(text)
        case (.url, .text(let text)):
            URL(string: text, encodingInvalidCharacters: false).map { .url($0) }
        case (.json, .text(let text)): .json(text)
        case (.uuid, .blob(let bytes)): UUID(bytes: bytes).map { .uuid($0) }
        case (.data, .blob(let bytes)): .data(Data(bytes))
        default: nil
        }
    }

    /// Its approximate size in a message.
    package var byteCount: Int {
        switch self {
        case .null: 0
        case .integer, .real: 8
        case .text(let text): text.utf8.count
        case .blob(let bytes): bytes.count
        }
    }
}
