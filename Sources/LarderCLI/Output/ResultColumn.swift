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

    /// Whether it is a key path of several steps, which may lead to many objects.
    var mayHaveManyTexts: Bool {
        guard let text else { return false }
        return text.contains(".")
            && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" }
    }

    /// The column with the texts of many objects as one text: `tags.name` is
    /// `join(tags.name, ", ")`. Others are returned as they are.
    func joiningTexts(of entityName: String, in schema: Schema) -> ResultColumn {
        guard mayHaveManyTexts, let text,
            let path = schema.properties(
                at: text.split(separator: ".", omittingEmptySubsequences: false).map(String.init),
                of: entityName),
            case .attribute(let attribute)? = path.last, attribute.type == .string,
            path.contains(where: \.isToMany)
        else { return self }
        let joined = "join(\(QueryExpression.keyPath(text).format), \", \")"
        return .expression(QueryColumn(joined, name: name))
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

extension Property {
    fileprivate var isToMany: Bool {
        if case .relationship(let relationship) = self { relationship.isToMany } else { false }
    }
}
