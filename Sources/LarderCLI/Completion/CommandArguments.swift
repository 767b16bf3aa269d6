import ArgumentParser
import LarderModel

/// The arguments of a command, as ArgumentParser describes them.
struct CommandArguments {
    struct Argument {
        enum Kind: String { case positional, option, flag }

        enum Completion: Equatable {
            case words([String])
            case files
            /// What the command's own function finds.
            case custom
        }

        let kind: Kind
        /// With their dashes.
        let names: [String]
        let completion: Completion
        let isRepeating: Bool
    }

    let all: [Argument]

    init(of command: any ParsableCommand.Type) {
        // The description is JSON of a form that has a version, and is made for other programs.
        let description = try? JSONValue(parsing: command._dumpHelp())
        let arguments = description?["command"]?["arguments"]?.elements ?? []
        all = arguments.compactMap(Argument.init)
    }

    var positional: [Argument] { all.filter { $0.kind == .positional } }

    func named(_ name: String) -> Argument? { all.first { $0.names.contains(name) } }

    func has(_ name: String) -> Bool { named(name) != nil }
}

extension CommandArguments.Argument {
    fileprivate init?(_ json: JSONValue) {
        guard let kind = json["kind"]?.string.flatMap(Kind.init(rawValue:)),
            json["shouldDisplay"] != .bool(false)
        else { return nil }
        self.kind = kind
        names = (json["names"]?.elements ?? []).compactMap { name in
            let dashes = name["kind"]?.string == "long" ? "--" : "-"
            return name["name"]?.string.map { dashes + $0 }
        }
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
