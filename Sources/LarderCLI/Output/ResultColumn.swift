import ArgumentParser
import LarderModel

/// A column of a printed result: a part of the identity of the object, or an expression.
enum ResultColumn: Hashable {
    case identifier
    case entity
    case version
    case expression(QueryColumn)

    init(_ name: String) {
        self =
            switch name {
            case "@id": .identifier
            case "@entity": .entity
            case "@version": .version
            default: .expression(QueryColumn(name))
            }
    }

    var name: String {
        switch self {
        case .identifier: "@id"
        case .entity: "@entity"
        case .version: "@version"
        case .expression(let column): column.name
        }
    }

    var isIdentity: Bool { column == nil }

    /// The column of the query; nil for a part of the identity.
    var column: QueryColumn? {
        if case .expression(let column) = self { column } else { nil }
    }

    /// The expression, as typed.
    var text: String? {
        if case .format(let text) = column?.term { text } else { nil }
    }

    /// Parses `--select`: columns separated by commas.
    static func list(_ text: String) -> [ResultColumn] {
        ExpressionSplitter(text).parts.map { part in
            let (name, text) = ExpressionSplitter.named(part)
            return name.map { .expression(QueryColumn(text, name: $0)) } ?? ResultColumn(text)
        }
    }

    /// Checks that no column of `--select` is empty, or written as in SQL.
    static func validate(list text: String) throws {
        let parts = ExpressionSplitter(text).parts
        if parts.contains("*") {
            throw ValidationError("--select: omit the option to print all attributes")
        }
        for part in parts {
            guard let (column, name) = ExpressionSplitter(part).around(word: "as") else { continue }
            throw ValidationError("--select: write `\(name)=\(column)` to name the column")
        }
        guard let empty = parts.firstIndex(of: "") else { return }
        throw ValidationError("--select: column \(empty + 1) of \(parts.count) is empty")
    }

    /// The part of each object that the query must fetch for these columns.
    static func selection(_ columns: [ResultColumn]) -> Fetch.Selection {
        let queried = columns.compactMap(\.column)
        if queried.isEmpty { return .identifiers }
        return columns.contains(where: \.isIdentity) ? .columns(queried) : .values(queried)
    }
}
