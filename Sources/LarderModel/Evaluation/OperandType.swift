/// The type of one side of a comparison, as far as the schema tells it.
enum OperandType: Hashable, Sendable {
    case attribute(AttributeType)
    /// An object of this entity.
    case object(entityName: String)

    var isString: Bool { self == .attribute(.string) }

    var nounWithArticle: String {
        switch self {
        case .attribute(let type): type.nounWithArticle
        case .object(let entityName): "an object of \(entityName)"
        }
    }

    /// Whether values of this type have an order.
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

    var isInteger: Bool {
        switch self {
        case .attribute(.int16), .attribute(.int32), .attribute(.int64): true
        default: false
        }
    }

    /// Whether it is a float or a double.
    var isBinary: Bool { self == .attribute(.float) || self == .attribute(.double) }

    /// Whether values of the two types compare: with their own, and numbers with numbers, but for
    /// a decimal beside a float or double, between which nothing is exact.
    func isComparable(with other: OperandType) -> Bool {
        if self == other || (isInteger && other.isNumber) || (isNumber && other.isInteger) {
            return true
        }
        return isBinary && other.isBinary
    }

    var isNumber: Bool { isInteger || isBinary || self == .attribute(.decimal) }
}
