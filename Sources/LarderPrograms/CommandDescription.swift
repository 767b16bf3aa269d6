import LarderModel

/// The arguments of a command, as ArgumentParser describes them to other programs.
package struct CommandDescription {
    package struct Argument {
        package enum Kind: String { case positional, option, flag }

        package enum Completion: Equatable {
            case words([String])
            case files
            /// The command has a function that finds them.
            case custom
        }

        package let kind: Kind
        /// The names with their dashes.
        package let names: [String]
        /// The word for the value in the help.
        package let valueName: String
        package let defaultValue: String?
        package let completion: Completion
        package let isRepeating: Bool
    }

    package let arguments: [Argument]

    /// - Parameter text: The result of the command's `_dumpHelp()`: JSON of a form that has a
    ///   version.
    package init(_ text: String) {
        let description = try? JSONValue(parsing: text)
        let arguments = description?["command"]?["arguments"]?.elements ?? []
        self.arguments = arguments.compactMap(Argument.init)
    }

    package var positional: [Argument] { arguments.filter { $0.kind == .positional } }

    package func named(_ name: String) -> Argument? { arguments.first { $0.names.contains(name) } }
}

extension CommandDescription.Argument {
    fileprivate init?(_ json: JSONValue) {
        guard let kind = json["kind"]?.string.flatMap(Kind.init(rawValue:)),
            json["shouldDisplay"] != .bool(false)
        else { return nil }
        self.kind = kind
        names = (json["names"]?.elements ?? []).compactMap { name in
            let dashes = name["kind"]?.string == "long" ? "--" : "-"
            return name["name"]?.string.map { dashes + $0 }
        }
        valueName = json["valueName"]?.string ?? ""
        defaultValue = json["defaultValue"]?.string
        isRepeating = json["isRepeating"] == .bool(true)
        guard case .object(let completion) = json["completionKind"] ?? .null else {
            completion = .words([])
            return
        }
        let values = completion["list"]?["values"]?.elements ?? []
        self.completion =
            if completion["custom"] != nil {
                .custom
            } else if completion["file"] != nil || completion["directory"] != nil {
                .files
            } else {
                .words(values.compactMap(\.string))
            }
    }
}

extension JSONValue {
    fileprivate subscript(_ name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    fileprivate var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    fileprivate var string: String? {
        if case .string(let text) = self { text } else { nil }
    }
}
