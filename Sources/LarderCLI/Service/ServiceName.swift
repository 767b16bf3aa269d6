import ArgumentParser
import LarderModel

/// The name of a service and of its store. It is a part of the names of units, files and the
/// socket, so that it has no characters that any of these treats specially.
struct ServiceName: ExpressibleByArgument {
    let text: String

    static let lengthMax = 48

    /// Returns nil for any other text. ArgumentParser then reports the argument.
    init?(argument: String) {
        guard Self.isPlain(argument, others: "-_"), let first = argument.first, first != "-",
            first != "_", argument.utf8.count <= Self.lengthMax
        else { return nil }
        text = argument
    }

    /// Whether a text has ASCII letters, digits and the other characters only.
    private static func isPlain(_ text: String, others: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: others.utf8.contains(byte)
            }
        }
    }

    private static let groupLengthMax = 32

    /// Whether the name of a group can be written into a unit, where a percent sign, for example,
    /// has a meaning.
    static func isGroup(_ text: String) -> Bool {
        isPlain(text, others: "-_.") && !text.isEmpty && !text.hasPrefix("-")
            && text.utf8.count <= groupLengthMax
    }
}
