import FoundationEssentials
import LarderModel
import LarderQuery

/// Runs the commands of query scripts: the first line is the command, the others are its
/// parameters.
///
///     schema                 the rest is a schema file
///     insert                 each further line: Entity name {JSON}; values refer to "@name"
///     delete NAME…
///     get NAME… [: PROPERTY…]
///     fetch ENTITY · count ENTITY · aggregate ENTITY
///         show plan sql steps warnings rows      (default: rows)
///         where FORMAT · having FORMAT · arg VALUE · text VALUE · limit N · offset N
///         sort EXPRESSION[:desc][:nilsfirst|:nilslast][:caseinsensitive|:localized], …
///         select [NAME=]EXPRESSION, … · values [NAME=]EXPRESSION, …
///         ids · distinct · after VALUE · prefetch KEYPATH, …
///         nosubentities
///         group [NAME=]EXPRESSION, … · columns [NAME=]FUNCTION[:EXPRESSION][ where FORMAT], …
package final class QueryScript {
    private var fixture: QueryFixture?
    private let makeStore: (Schema) throws -> any StoreBackend

    /// - Parameter makeStore: Creates an empty store.
    package init(_ makeStore: @escaping (Schema) throws -> any StoreBackend) {
        self.makeStore = makeStore
    }

    package func run(_ command: String) throws -> String {
        var lines = command.split(separator: "\n").map(String.init)
        let first = lines.removeFirst().split(separator: " ").map(String.init)
        switch first[0] {
        case "schema":
            // The former store is closed first.
            fixture = nil
            fixture = try QueryFixture(
                makeStore(SchemaFile.schema(parsing: lines.joined(separator: "\n"))))
            return ""
        case "insert":
            try opened.insert(lines.map(object))
            return ""
        case "delete":
            for name in first.dropFirst() { try opened.delete(name) }
            return ""
        case "get": return try get(Array(first.dropFirst()))
        default: return try ask(first[0], entityName: first[1], lines)
        }
    }

    private var opened: QueryFixture {
        get throws {
            guard let fixture else { throw FixtureError("no schema yet") }
            return fixture
        }
    }

    private func object(_ line: String) throws -> QueryFixture.Object {
        let parts = line.split(separator: " ", maxSplits: 2)
        var values: [String: JSONValue] = [:]
        if parts.count > 2 {
            guard case .object(let members) = try JSONValue(parsing: String(parts[2])) else {
                throw FixtureError("values are a JSON object")
            }
            for member in members { values[member.key] = member.value }
        }
        return QueryFixture.Object(
            entityName: String(parts[0]), name: String(parts[1]), values: values)
    }

    private func get(_ words: [String]) throws -> String {
        let colon = words.firstIndex(of: ":")
        let identifiers = try words[..<(colon ?? words.count)].map { word in
            word.hasPrefix("x-coredata:")
                ? try PersistentIdentifier(uriRepresentation: word) : try opened.identifier(word)
        }
        let properties = colon.map { Array(words[($0 + 1)...]) }
        let fixture = try opened
        do throws(ReadFailure) {
            let batches = try fixture.reader.objects(
                identifiers, properties: properties, budget: ReadBudget())
            return batches.map { batch in
                let names = batch.columns.map(\.name).joined(separator: " | ")
                let rows = fixture.rows([batch])
                return (["\(batch.identity?.entityName ?? ""): \(names)"] + rows)
                    .joined(separator: "\n")
            }.joined(separator: "\n")
        } catch {
            throw error.shown
        }
    }

    private func ask(_ verb: String, entityName: String, _ lines: [String]) throws -> String {
        var clauses = QueryClauses()
        for line in lines {
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            try clauses.add(parts[0], parts.count > 1 ? parts[1] : "", try opened)
        }
        let query = try clauses.query(verb, entityName)
        let fixture = try opened
        var output: [String] = []
        for part in clauses.shown {
            if part == "rows" {
                output += fixture.rows(try fixture.batches(query, clauses.parameters))
                continue
            }
            let plan = try fixture.store.plan(query, clauses.parameters)
            let explanation: Explanation
            do throws(ReadFailure) {
                explanation = try fixture.reader.explain(
                    plan, clauses.parameters, budget: ReadBudget())
            } catch {
                throw error.shown
            }
            switch part {
            case "plan": output.append(explanation.plan)
            case "sql": output.append(explanation.sql)
            case "steps": output += explanation.steps
            case "warnings": output += explanation.warnings
            case "names":
                let batches = try fixture.batches(query, clauses.parameters)
                output.append(
                    batches[0].columns.map { "\($0.name) \($0.kind)" }.joined(separator: ", "))
            default: throw FixtureError("show what? \(part)")
            }
        }
        return output.joined(separator: "\n")
    }
}

/// The clauses of a query in a script, as they are read.
package struct QueryClauses {
    package var shown = ["rows"]
    package var parameters = QueryParameters()
    private var predicate: QueryTerm?
    private var having: QueryTerm?
    private var sort: [SortKey] = []
    private var selection = Fetch.Selection.objects
    private var isDistinct = false
    private var prefetch: [String] = []
    private var includesSubentities = true
    private var groupBy: [QueryColumn] = []
    private var columns: [Aggregate.Column] = []

    package init() {}

    package mutating func add(_ name: String, _ rest: String, _ fixture: QueryFixture) throws {
        switch name {
        case "show": shown = rest.split(separator: " ").map(String.init)
        case "where": predicate = .format(rest)
        case "having": having = .format(rest)
        case "arg": parameters.arguments.append(try Self.argument(rest, fixture))
        case "variable":
            let parts = rest.split(separator: " ", maxSplits: 1).map(String.init)
            parameters.variables[parts[0]] = try Self.argument(parts[1], fixture)
        case "text":
            parameters.arguments.append(.value(.string(rest)))
            parameters.argumentsAreText = true
        case "utc": parameters.assumesUTC = true
        case "sort":
            sort += try Self.list(rest).map(Self.sortKey)
        case "select": selection = .columns(Self.list(rest).map(Self.column))
        case "values": selection = .values(Self.list(rest).map(Self.column))
        case "after": parameters.after.append(try Self.value(rest, fixture))
        case "prefetch": prefetch = Self.list(rest)
        case "ids": selection = .identifiers
        case "distinct": isDistinct = true
        case "nosubentities": includesSubentities = false
        case "limit": parameters.limit = Int64(rest)
        case "offset": parameters.offset = Int64(rest)
        case "group": groupBy = Self.list(rest).map(Self.column)
        case "columns": columns = try Self.list(rest).map(Self.aggregateColumn)
        default: throw FixtureError("no clause \(name)")
        }
    }

    package func query(_ verb: String, _ entityName: String) throws -> Query {
        switch verb {
        case "fetch":
            return .fetch(
                Fetch(
                    entityName, where: predicate, sort: sort, selection: selection,
                    isDistinct: isDistinct, prefetch: prefetch,
                    includesSubentities: includesSubentities))
        case "count":
            return .count(
                entityName: entityName, predicate: predicate,
                includesSubentities: includesSubentities)
        case "aggregate":
            return .aggregate(
                Aggregate(
                    entityName, where: predicate, groupBy: groupBy, columns, having: having,
                    sort: sort, includesSubentities: includesSubentities))
        default: throw FixtureError("no command \(verb)")
        }
    }

    /// The parts between commas, except commas in parentheses and braces.
    private static func list(_ text: String) -> [String] {
        var parts = [""]
        var depth = 0
        for character in text {
            if "({[".contains(character) { depth += 1 }
            if ")}]".contains(character) { depth -= 1 }
            if character == ",", depth == 0 {
                parts.append("")
            } else if character != " " || parts[parts.count - 1] != "" {
                parts[parts.count - 1].append(character)
            }
        }
        return parts.last == "" ? parts.dropLast() : parts
    }

    private static func sortKey(_ text: String) throws -> SortKey {
        var parts = text.split(separator: ":").map(String.init)
        var key = SortKey(parts.removeFirst())
        while let part = parts.first {
            switch part {
            case "desc": key.isDescending = true
            case "nilsfirst": key.nilPlacement = .first
            case "nilslast": key.nilPlacement = .last
            case "caseinsensitive": key.stringOrder = .caseInsensitive
            case "localized": key.stringOrder = .localizedStandard
            default:
                guard case .format(let name) = key.term else { throw FixtureError("no \(part)") }
                key.term = .format("\(name):\(part)")
            }
            parts.removeFirst()
        }
        return key
    }

    private static func column(_ text: String) -> QueryColumn {
        let named = text.split(separator: "=", maxSplits: 1).map(String.init)
        let isNamed = named[0].allSatisfy { $0.isLetter || $0 == "." }
        guard named.count == 2, isNamed, !named[1].hasPrefix("=") else {
            return QueryColumn(text)
        }
        return QueryColumn(named[1], name: named[0])
    }

    private static func aggregateColumn(_ text: String) throws -> Aggregate.Column {
        let halves = text.split(separator: " where ", maxSplits: 1).map(String.init)
        let column = column(halves[0])
        guard case .format(let asked) = column.term else { throw FixtureError("no text") }
        let parts = asked.split(separator: ":", maxSplits: 1).map(String.init)
        guard let function = AggregateFunction(rawValue: parts[0]) else {
            throw FixtureError("no function \(parts[0])")
        }
        return Aggregate.Column(
            function, parts.count > 1 ? parts[1] : nil, where: halves.count > 1 ? halves[1] : nil,
            name: column.name == asked ? nil : column.name)
    }

    /// `nil`, a JSON scalar, `@name`, `wrong:Entity@name`, `[@name, …]`, or `TYPE:TEXT`.
    /// A list in brackets, objects alone as the value of a to-many, or a single value.
    package static func argument(_ text: String, _ fixture: QueryFixture) throws -> QueryArgument {
        guard text.hasPrefix("[") else { return .value(try value(text, fixture)) }
        let values = try list(String(text.dropFirst().dropLast())).map { try value($0, fixture) }
        let identifiers = values.compactMap { value -> PersistentIdentifier? in
            if case .object(let identifier) = value { identifier } else { nil }
        }
        return identifiers.count == values.count ? .value(.objects(identifiers)) : .list(values)
    }

    private static func value(_ text: String, _ fixture: QueryFixture) throws -> Value {
        if text == "nil" { return .null }
        if text == "true" || text == "false" { return .bool(text == "true") }
        if text.hasPrefix("wrong:") { return .object(try fixture.identifier(text)) }
        if text.hasPrefix("@") { return .object(try fixture.identifier(String(text.dropFirst()))) }
        if text.hasPrefix("\"") {
            return try Value(json: try JSONValue(parsing: text), type: .string)
        }
        if let integer = Int64(text) { return .int(integer) }
        if let double = Double(text) { return .double(double) }
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2, let type = AttributeType(rawValue: parts[0]) else {
            throw FixtureError("no value \(text)")
        }
        return try Value(text: parts[1], type: type)
    }
}
