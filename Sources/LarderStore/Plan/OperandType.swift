import LarderModel

/// The type of one side of a comparison, as far as the schema tells it.
enum OperandType: Hashable, Sendable {
    case attribute(AttributeType)
    /// An object of this entity, by its key.
    case object(entityName: String)

    static let int64 = OperandType.attribute(.int64)

    var nounWithArticle: String {
        switch self {
        case .attribute(let type): type.nounWithArticle
        case .object(let entityName): "an object of \(entityName)"
        }
    }

    var isString: Bool { self == .attribute(.string) }

    /// Whether it is stored as one of SQLite's own numbers, which compare across types.
    var isNumber: Bool {
        switch self {
        case .attribute(.int16), .attribute(.int32), .attribute(.int64), .attribute(.float),
            .attribute(.double):
            true
        default: false
        }
    }

    var isInteger: Bool {
        switch self {
        case .attribute(.int16), .attribute(.int32), .attribute(.int64): true
        default: false
        }
    }

    /// Whether Swift orders values of this type with `<`.
    var isOrderable: Bool {
        switch self {
        case .attribute(let type):
            switch type {
            case .int16, .int32, .int64, .float, .double, .decimal, .string, .date, .uuid: true
            case .bool, .url, .data, .json: false
            }
        case .object: false
        }
    }

    /// Whether two columns of these types may be compared with each other.
    func isComparable(with other: OperandType) -> Bool {
        let decimal = OperandType.attribute(.decimal)
        return self == other || (isNumber && other.isNumber)
            || (self == decimal && other.isInteger) || (isInteger && other == decimal)
    }

    /// The column of results that holds values of this type.
    var columnKind: Column.Kind {
        switch self {
        case .attribute(let type): .attribute(type)
        case .object(let entityName): .object(entityName: entityName)
        }
    }
}
