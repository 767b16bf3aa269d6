/// A statement or a part of one: its text, and the values for its `?` in order.
///
/// Values never become text, so a user's value cannot change what a statement does; names enter
/// through ``init(identifier:)`` alone.
struct SQL: Hashable, Sendable {
    var text: String
    var bindings: [SQLBinding]

    init(_ text: String = "", _ bindings: [SQLBinding] = []) {
        self.text = text
        self.bindings = bindings
    }

    /// A name of a table, column or index, in quotes.
    init(identifier name: String) {
        self.init(SQL.quoted(name))
    }

    /// One value, as a `?`.
    init(value: SQLBinding) {
        self.init("?", [value])
    }

    /// The one place where a name is quoted.
    static func quoted(_ name: String) -> String {
        var result = "\""
        for character in name.unicodeScalars {
            if character == "\"" { result.unicodeScalars.append(character) }
            result.unicodeScalars.append(character)
        }
        result.append("\"")
        return result
    }

    mutating func append(_ other: SQL) {
        text += other.text
        bindings += other.bindings
    }

    mutating func append(_ otherText: String) {
        text += otherText
    }

    static func + (left: SQL, right: SQL) -> SQL {
        SQL(left.text + right.text, left.bindings + right.bindings)
    }

    static func += (left: inout SQL, right: SQL) { left.append(right) }
}

extension SQL: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self.init(text) }
}

extension Sequence<SQL> {
    /// The parts in order with a separator between them.
    func joined(separator: String) -> SQL {
        var result = SQL()
        var isFirst = true
        for part in self {
            if !isFirst { result.append(separator) }
            result.append(part)
            isFirst = false
        }
        return result
    }
}
