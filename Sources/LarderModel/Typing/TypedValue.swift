/// A value of a query with the type of what it is compared with: a constant, or an argument of each
/// run.
package struct TypedValue: Hashable, Sendable {
    package enum Source: Hashable, Sendable {
        case constant(Value)
        /// The index of an argument, from 0.
        case argument(Int)
        /// The name of a variable.
        case variable(String)
        /// The value of a sort key in the keyset cursor, by the index of the key, from 0.
        case cursor(Int)

        /// Its node in the tree of the query; nil if it has none.
        package var expression: QueryExpression? {
            switch self {
            case .constant(let value): .constant(value)
            case .argument(let index): .argument(index)
            case .variable(let name): .variable(name)
            case .cursor: nil
            }
        }
    }

    package var source: Source
    /// The type of the other operand; nil if that is a value too.
    package var type: OperandType?
    /// The name of the other operand, for messages: `Article.title`.
    package var name: String
    /// The index of the value in a list of two bounds: 0 or 1.
    package var bound: Int?
    /// The meaning of the value, if it is a search text or the name of a unit or of a time zone.
    package var checkedOperand: CheckedOperand?

    package init(source: Source, type: OperandType?, name: String) {
        self.source = source
        self.type = type
        self.name = name
    }

    package static func null(named name: String) -> TypedValue {
        TypedValue(source: .constant(.null), type: nil, name: name)
    }

    /// The constant's own type; nil for nil and for arguments.
    package var constantType: OperandType? {
        guard case .constant(let value) = source else { return nil }
        return OperandType(of: value)
    }

    /// Whether the query's parameters supply it as an argument or a variable.
    package var isArgument: Bool {
        switch source {
        case .argument, .variable, .cursor: true
        case .constant: false
        }
    }
}

extension TypedValue: CustomStringConvertible {
    /// Constants are shown, because they are part of the query's text; arguments only by index.
    package var description: String { text + (bound.map { "[\($0)]" } ?? "") }

    private var text: String {
        switch source {
        case .argument(let index): "?\(index)"
        case .cursor(let index): "?after \(index)"
        case .variable(let name): "$\(name)"
        case .constant(.null): "nil"
        case .constant(.string(let text)): "\"\(text)\""
        case .constant(let value): value.text
        }
    }
}

/// The type as which a member of a JSON document is read. A member of another type is nil.
package enum MemberKind: Hashable, Sendable {
    /// Its JSON text.
    case text
    /// A number: an integer if it is one.
    case number
    case attribute(AttributeType)
    /// The type of a value of the query, which the parameters determine.
    case like(TypedValue)
}

extension MemberKind {
    /// The kind of a member that is compared with a type; nil for objects.
    package init?(comparedWith type: OperandType) {
        guard case .attribute(let type) = type else { return nil }
        self =
            switch type {
            case .int16, .int32, .int64, .float, .double: .number
            case .json: .text
            case .bool, .decimal, .string, .date, .uuid, .url, .data: .attribute(type)
            }
    }

    /// The kind of a member that is compared with a value; text for nil.
    package init(comparedWith value: Value) {
        self =
            switch value {
            case .null, .json, .objects, .object: .text
            case .int, .float, .double: .number
            case .bool: .attribute(.bool)
            case .decimal: .attribute(.decimal)
            case .string: .attribute(.string)
            case .date: .attribute(.date)
            case .uuid: .attribute(.uuid)
            case .url: .attribute(.url)
            case .data: .attribute(.data)
            }
    }

    /// The kind of a member that is compared with an argument: a value, or the elements of a list.
    package init(comparedWith argument: QueryArgument) {
        switch argument {
        case .value(let value): self.init(comparedWith: value)
        case .list(let values):
            self.init(comparedWith: values.first { !$0.isNull } ?? .null)
        }
    }

    /// The type of the member; nil if a value of the query determines it.
    package var type: OperandType? {
        switch self {
        case .text: .attribute(.json)
        case .number: .attribute(.double)
        case .attribute(let type): .attribute(type)
        case .like: nil
        }
    }

    /// The type of a value that is compared with the member; nil for its own type.
    package var valueType: OperandType? {
        switch self {
        case .text: .attribute(.json)
        case .number, .like: nil
        case .attribute(let type): .attribute(type)
        }
    }
}
