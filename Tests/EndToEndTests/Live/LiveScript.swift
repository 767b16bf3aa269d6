import LarderClient

/// Commits, and the queries that a client observes meanwhile: a case of the property test of live
/// queries, and a golden script in `Scripts/live` (`ScriptTesting.swift` has the format):
///
///     observe Article               an observed query; the script begins with all of them
///     where wordCount > %@          the predicate, its arguments as JSON, the sort keys (`:desc`
///     arg 5                         is descending), the limit and the columns are optional;
///     sort title                    without columns, all are selected; `columns` alone selects
///     limit 4                       identifiers
///     columns title category.name
///     ---
///
///     save                          one commit
///     insert Category news {"name":"a1"}
///     insert Article n2 {"category":"@news"}
///     update n1 {"title":null}
///     delete n1
///     ---
///
///     increment wordCount < 9       one commit: adds 1 to the words of the articles that match
///     ---
///
///     check                         prints each query whose result differs from a fetch
///     ---
///
/// A link to an unknown object is nil, and a change of one has no effect, as has a commit that the
/// server rejects: so a script without some of its lines is a script, too.
struct LiveScript: Hashable {
    struct Query: Hashable {
        var entityName: String
        var predicate: String?
        var arguments: [JSONValue] = []
        var sort: [String] = []
        var limit: Int64?
        /// nil for all; none for identifiers.
        var columns: [String]?

        init(
            _ entityName: String, where predicate: String? = nil, _ arguments: [JSONValue] = [],
            sort: [String] = [], limit: Int64? = nil, columns: [String]? = nil
        ) {
            self.entityName = entityName
            self.predicate = predicate
            self.arguments = arguments
            self.sort = sort
            self.limit = limit
            self.columns = columns
        }
    }

    struct Edit: Hashable {
        enum Kind: Hashable {
            case insert(entityName: String)
            case update
            case delete
        }

        var kind: Kind
        /// The object's name in the script.
        var object: String
        var values: [String: JSONValue] = [:]
    }

    enum Step: Hashable {
        case save([Edit])
        case increment(String)
        case check
    }

    var queries: [Query] = []
    var steps: [Step] = []
}

// MARK: - Text

extension LiveScript {
    struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }

    /// The blocks, without expected output.
    var text: String {
        (queries.map(\.text) + steps.map(\.text)).map { $0 + "\n---\n" }.joined(separator: "\n")
    }
}

extension LiveScript.Query {
    /// - Parameter text: A block that begins with `observe`.
    init(parsing text: String) throws {
        let lines = text.split(separator: "\n")
        self.init(String(lines[0].dropFirst("observe ".count)))
        for line in lines.dropFirst() {
            let parts = line.split(separator: " ", maxSplits: 1)
            let rest = parts.count > 1 ? String(parts[1]) : ""
            switch parts[0] {
            case "where": predicate = rest
            case "arg": arguments.append(try JSONValue(parsing: rest))
            case "sort": sort.append(rest)
            case "limit": limit = Int64(rest)
            case "columns": columns = rest.split(separator: " ").map(String.init)
            default: throw LiveScript.Unreadable(description: "unknown line `\(line)`")
            }
        }
    }

    var text: String {
        var lines = ["observe \(entityName)"]
        if let predicate { lines.append("where \(predicate)") }
        lines += arguments.map { "arg \($0.text)" } + sort.map { "sort \($0)" }
        if let limit { lines.append("limit \(limit)") }
        if let columns { lines.append((["columns"] + columns).joined(separator: " ")) }
        return lines.joined(separator: "\n")
    }

    var fetch: Fetch {
        Fetch(
            entityName, where: predicate.map { .format($0) },
            sort: sort.map { key in
                let path = key.split(separator: ":")
                return SortKey(String(path[0]), descending: path.count > 1)
            },
            selection: columns.map { names in
                names.isEmpty ? .identifiers : .columns(names.map { QueryColumn($0) })
            } ?? .objects)
    }

    var parameters: QueryParameters {
        QueryParameters(
            arguments: arguments.map { argument in
                if case .array(let elements) = argument { return .list(elements.map(\.value)) }
                return .value(argument.value)
            }, limit: limit)
    }
}

extension LiveScript.Edit {
    /// - Parameter line: A line of a `save` block.
    init(parsing line: Substring) throws {
        let isInsertion = line.hasPrefix("insert ")
        let words = line.split(separator: " ", maxSplits: isInsertion ? 3 : 2).map(String.init)
        guard words.count > (isInsertion ? 2 : 1) else {
            throw LiveScript.Unreadable(description: "incomplete line `\(line)`")
        }
        switch words[0] {
        case "insert": self.init(kind: .insert(entityName: words[1]), object: words[2])
        case "update": self.init(kind: .update, object: words[1])
        case "delete": self.init(kind: .delete, object: words[1])
        default: throw LiveScript.Unreadable(description: "unknown line `\(line)`")
        }
        guard words.count > (isInsertion ? 3 : 2) else { return }
        if case .object(let members) = try JSONValue(parsing: words[words.count - 1]) {
            values = members
        }
    }

    var text: String {
        let start =
            switch kind {
            case .insert(let entityName): "insert \(entityName) \(object)"
            case .update: "update \(object)"
            case .delete: "delete \(object)"
            }
        return values.isEmpty ? start : "\(start) \(JSONValue.object(values).text)"
    }
}

extension LiveScript.Step {
    /// - Parameter text: A block that does not begin with `observe`.
    init(parsing text: String) throws {
        let lines = text.split(separator: "\n")
        switch lines[0].split(separator: " ").first {
        case "save": self = .save(try lines.dropFirst().map(LiveScript.Edit.init))
        case "increment": self = .increment(String(text.dropFirst("increment ".count)))
        case "check": self = .check
        default: throw LiveScript.Unreadable(description: "unknown block `\(lines[0])`")
        }
    }

    var text: String {
        switch self {
        case .save(let edits): (["save"] + edits.map(\.text)).joined(separator: "\n")
        case .increment(let predicate): "increment \(predicate)"
        case .check: "check"
        }
    }
}

extension JSONValue {
    /// The value of an attribute.
    var value: Value {
        switch self {
        case .string(let text): .string(text)
        case .integer(let number): .int(number)
        default: .null
        }
    }
}
