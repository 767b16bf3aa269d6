import ArgumentParser
import LarderModel

/// A setting of the server. It is an option, a key of the configuration file and an environment
/// variable: `--query-timeout`, `query-timeout` and `LARDERD_QUERY_TIMEOUT`.
struct Setting {
    enum Kind {
        case text
        case number
        /// True or false; as an option it has no value.
        case flag
        /// Several texts.
        case list
    }

    let name: String
    let kind: Kind
    /// As the option takes it; nil without a default.
    let defaultValue: String?

    var option: String { "--\(name)" }
    var variable: String {
        Self.variablePrefix + name.uppercased().replacing("-", with: "_")
    }

    static let variablePrefix = "LARDERD_"

    /// Options that are about the configuration or the program itself.
    private static let others = ["h", "help", "version", "config", "check-config", "print-config"]
    /// What the help calls the values that are numbers.
    private static let numberNames = ["seconds", "milliseconds", "number", "MiB", "days"]

    /// The options of ``DaemonCommand``, in the order of its help, from which this list is made.
    static let all: [Setting] = {
        let help = try? JSONValue(parsing: DaemonCommand._dumpHelp())
        let arguments = help?["command"]?["arguments"]?.arrayElements ?? []
        return arguments.compactMap(Setting.init).filter { !others.contains($0.name) }
    }()

    private init?(_ argument: JSONValue) {
        guard let name = argument["names"]?.arrayElements?.first?["name"]?.stringText else {
            return nil
        }
        self.name = name
        if argument["kind"]?.stringText == "flag" {
            kind = .flag
        } else if argument["isRepeating"] == .bool(true) {
            kind = .list
        } else {
            let valueName = argument["valueName"]?.stringText ?? ""
            kind = Self.numberNames.contains(valueName) ? .number : .text
        }
        defaultValue = argument["defaultValue"]?.stringText
    }

    static func named(_ name: String) -> Setting? { all.first { $0.name == name } }
}

extension JSONValue {
    fileprivate subscript(_ key: String) -> JSONValue? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    fileprivate var arrayElements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    fileprivate var stringText: String? {
        if case .string(let text) = self { text } else { nil }
    }
}
