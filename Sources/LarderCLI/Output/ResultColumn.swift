import ArgumentParser
import LarderModel

/// A column of a printed result: a part of the object's identity, or an expression.
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

    /// What must be asked for it; nil for a part of the identity.
    var column: QueryColumn? {
        if case .expression(let column) = self { column } else { nil }
    }

    /// The expression as it was typed.
    var text: String? {
        if case .format(let text) = column?.term { text } else { nil }
    }

    /// The columns that `--select` names, separated by commas.
    static func list(_ text: String) -> [ResultColumn] {
        ExpressionText(text).parts.map { part in
            let (name, text) = ExpressionText.named(part)
            return name.map { .expression(QueryColumn(text, name: $0)) } ?? ResultColumn(text)
        }
    }

    /// Refuses a `--select` with nothing in front of a comma or behind it.
    static func validate(list text: String) throws {
        let parts = ExpressionText(text).parts
        guard let empty = parts.firstIndex(of: "") else { return }
        throw ValidationError("--select: column \(empty + 1) of \(parts.count) is empty")
    }

    /// What must be fetched to show these columns.
    static func selection(_ columns: [ResultColumn]) -> Fetch.Selection {
        let asked = columns.compactMap(\.column)
        if asked.isEmpty { return .identifiers }
        return columns.contains(where: \.isIdentity) ? .columns(asked) : .values(asked)
    }
}
