import ArgumentParser
import LarderPrograms

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
    private static let others = [
        "--help", "--version", "--config", "--check-config", "--print-config",
    ]
    /// The words of the help for values that are numbers.
    private static let numberNames = ["seconds", "milliseconds", "number", "MiB", "days"]

    /// The options of ``DaemonCommand``, in the order of its help, from which this list is made. It
    /// takes time and memory, and is not needed if only options are given.
    static let all: [Setting] = CommandDescription(DaemonCommand._dumpHelp()).arguments
        .compactMap(Setting.init)

    private init?(_ argument: CommandDescription.Argument) {
        guard let name = argument.names.first(where: { $0.hasPrefix("--") }),
            !Self.others.contains(name)
        else { return nil }
        self.name = String(name.dropFirst(2))
        if argument.kind == .flag {
            kind = .flag
        } else if argument.isRepeating {
            kind = .list
        } else {
            kind = Self.numberNames.contains(argument.valueName) ? .number : .text
        }
        defaultValue = argument.defaultValue
    }

    static func named(_ name: String) -> Setting? { all.first { $0.name == name } }
}
