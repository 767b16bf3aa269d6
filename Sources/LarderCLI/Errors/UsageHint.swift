import LarderModel

/// A usage error with a hint of its own.
struct UsageFailure: Error {
    let message: String
    let hint: String
}

/// The hint to write something else than a command or an option of another program.
enum UsageHint {
    /// The hint for the name of a command that does not exist; nil if there is none.
    static func command(_ name: String, among known: [String]) -> String? {
        commands[name.lowercased()].flatMap { known.contains($0) ? "did you mean \"\($0)\"?" : nil }
            ?? NameSuggestion.hint(for: name, among: known)
    }

    /// The hint for a SELECT statement of SQL, in one argument or several, with the command for it;
    /// nil for anything else.
    static func selection(_ arguments: [String]) -> String? {
        let words = arguments.joined(separator: " ").split { $0.isWhitespace || $0 == ";" }
        let keywords = words.map { $0.lowercased() }
        guard keywords.first == "select", let from = keywords.firstIndex(of: "from"), from > 1,
            from + 1 < words.count
        else { return nil }
        let columns = words[1..<from].joined(separator: " ")
        let entity = words[from + 1]
        let rest = keywords[(from + 2)...]
        let condition = rest.contains("where") ? " --where PREDICATE" : ""
        if columns.lowercased() == "count(*)", !rest.contains("group") {
            return "write count \(entity)\(condition)"
        }
        guard !rest.contains("group") else {
            return "write aggregate \(entity) --group-by EXPRESSION,… COLUMN…\(condition)"
        }
        return "write fetch \(entity)" + (columns == "*" ? "" : " --select '\(columns)'")
            + condition + (rest.contains("order") ? " --sort EXPRESSION,…" : "")
            + (rest.contains("limit") ? " --limit N" : "")
    }

    /// The hint for a message of ArgumentParser, and the message without its own suggestion; nil if
    /// there is none.
    static func usage(_ message: String, _ arguments: [String]) -> (message: String, hint: String)?
    {
        let parts = message.split(separator: "'", omittingEmptySubsequences: false)
        if message.hasPrefix("Unknown option '"), parts.count > 2,
            let hint = options[String(parts[1].drop { $0 == "-" })]
        {
            return ("Unknown option '\(parts[1])'", "write \(hint)")
        }
        let hasExpression = arguments.contains { $0 == "--where" || $0 == "--having" }
        if message.lowercased().contains("unexpected argument"), hasExpression {
            return (message, "put an expression in quotation marks: --where 'name == \"Ann\"'")
        }
        return nil
    }

    private static let commands: [String: String] = [
        "select": "fetch", "query": "fetch", "find": "fetch", "list": "fetch", "ls": "fetch",
        "search": "fetch", "show": "get", "read": "get", "cat": "get", "create": "insert",
        "add": "insert", "new": "insert", "put": "insert", "set": "update",
        "modify": "update", "patch": "update", "rm": "delete", "remove": "delete",
        "upsert": "insert", "apply": "save", "group": "aggregate", "sum": "aggregate",
        "dump": "export", "load": "import", "log": "history", "tail": "watch", "follow": "watch",
        "describe": "schema", "entities": "schema", "verify": "check", "status": "ping",
        "info": "stats",
    ]

    private static let sort = "--sort EXPRESSION, or --sort EXPRESSION:desc"
    private static let output = "--output json, jsonl, csv, table, vertical or plain"

    private static let options: [String: String] = [
        "order": sort, "order-by": sort, "orderby": sort, "sort-by": sort, "desc": sort,
        "format": output, "json": output, "jsonl": output, "csv": output, "table": output,
        "filter": "--where PREDICATE", "predicate": "--where PREDICATE",
        "query": "--where PREDICATE", "columns": "--select EXPRESSION,…",
        "fields": "--select EXPRESSION,…", "group": "--group-by EXPRESSION,…",
        "groupby": "--group-by EXPRESSION,…", "skip": "--offset N", "top": "--limit N",
        "max": "--limit N", "n": "--limit N", "file": "--store FILE", "db": "--store FILE",
        "database": "--store FILE", "host": "--socket PATH", "args": "--arg VALUE",
        "param": "--arg VALUE", "var": "--variable NAME=VALUE", "force": "--all",
    ]
}
