import LarderModel

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
    /// Whether it is a list with whose elements the other operand is compared.
    package var isList = false
    /// Whether it is compared with JSON. A value that JSON has then is JSON too.
    package var isJSON = false
    /// Whether it is a part of a text or an element of an array. A value that is no string is no
    /// part of a text, and any text of an argument may be one.
    package var isPart = false
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

/// How a member of a JSON document is read. A member of another type is nil.
package enum MemberKind: Hashable, Sendable {
    /// As JSON of any type.
    case json
    /// As JSON of one type, to compare it in an order.
    case jsonOf(JSONKind)
    /// As a value of a type of attributes.
    case attribute(AttributeType)
    /// As the type that values of the query have, which the parameters determine.
    case like([TypedValue])
}

extension MemberKind {
    /// The kind of a member that is compared with a type: JSON that equals a value of the type, or
    /// that is in its order. JSON for objects, which are rejected.
    init(comparedWith type: OperandType, isEquality: Bool) {
        guard case .attribute(let type) = type else {
            self = .json
            return
        }
        self =
            switch type {
            case .int16, .int32, .int64, .float, .double, .decimal:
                isEquality ? .json : .jsonOf(.number)
            case .json: .json
            case .bool, .string: isEquality ? .json : .attribute(type)
            case .date, .uuid, .url, .data: .attribute(type)
            }
    }

    /// The kind of a member whose value an attribute of a type takes.
    package init(storedAs type: AttributeType) {
        self = type == .json ? .json : .attribute(type.isInteger ? .double : type.widened)
    }

    /// The kind of a member that is compared with a value; nil for nil.
    private init?(comparedWith value: Value) {
        switch value {
        case .null: return nil
        case .json(let text): self = JSONKind(of: text).map { .jsonOf($0) } ?? .json
        case .bool: self = .jsonOf(.bool)
        case .int, .float, .double, .decimal: self = .jsonOf(.number)
        case .string: self = .jsonOf(.string)
        case .date: self = .attribute(.date)
        case .uuid: self = .attribute(.uuid)
        case .url: self = .attribute(.url)
        case .data: self = .attribute(.data)
        case .object, .objects: self = .json
        }
    }

    /// The kind of a member that is compared with several values: their common one, or JSON of any
    /// type.
    ///
    /// - Throws: `wrongType` for values of several types that are not JSON's, such as a date and a
    ///   string.
    package init(
        comparedWith values: some Sequence<Value>, named name: String
    ) throws(LarderError) {
        var kinds: Set<MemberKind> = []
        for value in values {
            if let kind = MemberKind(comparedWith: value) { kinds.insert(kind) }
        }
        for case .attribute(let type) in kinds where kinds.count > 1 {
            throw LarderError(
                .wrongType,
                "\(name) is compared with \(type.nounWithArticle) and with values of other types",
                hint: "write the date, UUID, URL or data as text")
        }
        self = kinds.count == 1 ? kinds.first ?? .json : .json
    }

    /// The type of the member; nil if a value of the query determines it.
    package var type: OperandType? {
        switch self {
        case .json, .jsonOf: .attribute(.json)
        case .attribute(let type): .attribute(type)
        case .like: nil
        }
    }
}
