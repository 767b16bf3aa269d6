import FoundationEssentials
import LarderModel
import LarderPrograms

/// The settings of the configuration file, the environment and the options, in this order of
/// weight.
///
/// All of them become arguments of ``DaemonCommand``, which alone knows what they mean.
struct Configuration {
    /// Where a value comes from.
    enum Source: Equatable, CustomStringConvertible {
        case file(String, line: Int)
        case variable(String)
        case option

        var description: String {
            switch self {
            case .file(let path, let line): "\(path), line \(line)"
            case .variable(let name): "variable \(name)"
            case .option: "option"
            }
        }
    }

    private struct Given {
        let values: [String]
        let source: Source
    }

    /// The values of the file and the environment, by the name of the setting.
    private var given: [String: Given] = [:]
    private let options: [String]
    private let tokens: [Token]

    /// - Parameters:
    ///   - options: The arguments of the program.
    ///   - environment: Its environment.
    /// - Throws: ``UsageError`` for an option that is given twice, and `malformedValue` for a file
    ///   or a variable with errors.
    init(options: [String], environment: [String: String]) throws {
        self.options = options
        // These print something else.
        guard Set(options).isDisjoint(with: ["--help", "-h", "--version"]) else {
            tokens = []
            return
        }
        tokens = try Self.tokens(options)
        if let name = tokens.first(where: { $0.name == "config" })?.value {
            let path = try Self.path(of: name, environment)
            for entry in try ConfigurationFile.read(path) {
                given[entry.setting] = Given(
                    values: entry.values, source: .file(path, line: entry.line))
            }
        }
        guard !Self.variables(in: environment).isEmpty else { return }
        for setting in Setting.all {
            guard let value = environment[setting.variable], !value.isEmpty else { continue }
            given[setting.name] = Given(
                values: [try Self.value(value, of: setting)], source: .variable(setting.variable))
        }
    }

    /// The names of the variables that are settings, or are meant to be.
    private static func variables(in environment: [String: String]) -> [String] {
        environment.keys.filter { $0.hasPrefix(Setting.variablePrefix) }
    }

    /// The value of a setting with the most weight.
    private func value(of setting: Setting) -> Given? {
        let own = tokens.filter { $0.name == setting.name }
        guard !own.isEmpty else { return given[setting.name] }
        let values = own.map { setting.kind == .flag ? $0.joined ?? "true" : $0.value ?? "true" }
        return Given(values: values, source: .option)
    }

    /// The arguments for ``DaemonCommand``: those of the program, after those of settings that it
    /// does not give.
    var arguments: [String] {
        guard !given.isEmpty else { return options }
        let lower = Setting.all.flatMap { setting -> [String] in
            guard let given = value(of: setting), given.source != .option else { return [] }
            if setting.kind == .flag { return given.values == ["true"] ? [setting.option] : [] }
            return given.values.map { "\(setting.option)=\($0)" }
        }
        return lower + options
    }

    // MARK: Options

    private struct Token {
        let name: String
        /// The value after an equals sign.
        let joined: String?
        /// The argument that follows, which is the value of an option that is no flag.
        let next: String?

        var value: String? { joined ?? next }
    }

    /// The options among the arguments, with their values.
    ///
    /// - Throws: an error for an option that is given twice and is no list.
    private static func tokens(_ arguments: [String]) throws(UsageError) -> [Token] {
        var tokens: [Token] = []
        for (index, argument) in arguments.enumerated() {
            if argument == "--" { break }
            guard argument.hasPrefix("--") else { continue }
            let parts = argument.dropFirst(2).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            if tokens.contains(where: { $0.name == name }), Setting.named(name)?.kind != .list {
                throw UsageError(message: "--\(LarderError.printable(name)) is given twice")
            }
            let next = arguments.indices.contains(index + 1) ? arguments[index + 1] : nil
            let joined = parts.count > 1 ? String(parts[1]) : nil
            tokens.append(Token(name: name, joined: joined, next: next))
        }
        return tokens
    }

    private static func value(
        _ text: String, of setting: Setting
    ) throws(LarderError) -> String {
        guard setting.kind == .flag else { return text }
        switch text {
        case "true", "1": return "true"
        case "false", "0": return "false"
        default:
            throw LarderError(
                .malformedValue, "the variable \(setting.variable) takes true or false")
        }
    }

    /// A warning for each variable that would be ignored, such as a misspelled one.
    static func warnings(about environment: [String: String]) -> [String] {
        let variables = variables(in: environment)
        guard !variables.isEmpty else { return [] }
        let known = Setting.all.map(\.variable)
        return variables.filter { !known.contains($0) }.sorted().map { name in
            let hint = NameSuggestion.hint(for: name, among: known).map { "; \($0)" } ?? ""
            return "there is no variable \(LarderError.printable(name))\(hint)"
        }
    }

    // MARK: The file

    /// The path of a configuration file: the path that is given, or that of a name.
    private static func path(
        of name: String, _ environment: [String: String]
    ) throws(LarderError) -> String {
        if name.isEmpty || name.contains("/") || name.contains(".") { return name }
        let home = environment["HOME"].map { "\($0)/.config" }
        let folders = [environment["XDG_CONFIG_HOME"] ?? home, "/etc"].compactMap(\.self)
        let paths = folders.filter { $0.hasPrefix("/") }.map { "\($0)/larder/\(name).toml" }
        guard let path = paths.first(where: FileManager.default.fileExists) else {
            throw LarderError(
                .malformedValue,
                "there is no configuration \(name): no \(paths.joined(separator: " and no "))",
                hint: "pass the path of a file to --config")
        }
        return path
    }

    // MARK: Reports

    /// Where the settings are given that a message about options names, but for options themselves.
    func sources(in message: String) -> [String] {
        guard !given.isEmpty else { return [] }
        return Setting.all.compactMap { setting in
            guard let given = value(of: setting), given.source != .option,
                let range = message.firstRange(of: setting.option),
                range.upperBound == message.endIndex
                    || !"-abcdefghijklmnopqrstuvwxyz".contains(message[range.upperBound])
            else { return nil }
            return "\(setting.name) is set in \(given.source)"
        }
    }

    /// The configuration as a file, which says where each value comes from.
    var text: String {
        Setting.all.map { setting in
            let name = setting.name
            if let given = value(of: setting) {
                return "\(name) = \(setting.literal(given.values))  # \(given.source)\n"
            }
            if setting.kind == .flag { return "\(name) = false  # default\n" }
            guard let value = setting.defaultValue else { return "# \(name) is not set\n" }
            return "\(name) = \(setting.literal([value]))  # default\n"
        }.joined()
    }
}

extension Setting {
    fileprivate func literal(_ values: [String]) -> String {
        switch kind {
        case .text: ConfigurationText.quoted(values.last ?? "")
        case .number, .flag: values.last ?? ""
        case .list: "[\(values.map(ConfigurationText.quoted).joined(separator: ", "))]"
        }
    }
}
