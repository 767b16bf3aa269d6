import FoundationEssentials
import LarderModel

// The order of values in comparisons, `@min`, `@max` and sorting. Values with order 0 are equal, so
// `0.0` equals `-0.0` and 1 equals 1.0.

extension Value {
    /// Returns a negative number, zero or a positive number. Numbers of different types are
    /// compared by value; nil precedes everything else. Values of incomparable kinds are ordered by
    /// kind.
    package func order(to other: Value) -> Int {
        switch (self, other) {
        case (.bool(let left), .bool(let right)): Self.sign(left ? 1 : 0, right ? 1 : 0)
        case (.string(let left), .string(let right)): StringOrder.plain.compare(left, right)
        case (.date(let left), .date(let right)): Self.sign(left, right)
        case (.uuid(let left), .uuid(let right)): Self.order(left.bytes, right.bytes)
        case (.url(let left), .url(let right)):
            Self.order(left.absoluteString, right.absoluteString)
        case (.data(let left), .data(let right)): Self.order(left, right)
        case (.json(let left), .json(let right)):
            JSONKey(text: left).order(to: JSONKey(text: right))
        case (.object(let left), .object(let right)): Self.order(left, right)
        default:
            Self.numberOrder(self, other) ?? Self.sign(kindOrder, other.kindOrder)
        }
    }

    private static func sign<Element: Comparable>(_ left: Element, _ right: Element) -> Int {
        left < right ? -1 : (right < left ? 1 : 0)
    }

    /// By Unicode scalars, which is also the order of the bytes in UTF-8.
    private static func order(_ left: String, _ right: String) -> Int {
        order(left.unicodeScalars, right.unicodeScalars)
    }

    private static func order<Elements: Sequence>(_ left: Elements, _ right: Elements) -> Int
    where Elements.Element: Comparable {
        if left.lexicographicallyPrecedes(right) { return -1 }
        return right.lexicographicallyPrecedes(left) ? 1 : 0
    }

    /// Orders by key, then by entity, since an entity and its subentities share their keys.
    /// Temporary identifiers follow permanent ones.
    private static func order(_ left: PersistentIdentifier, _ right: PersistentIdentifier) -> Int {
        let byKey =
            switch (left.key, right.key) {
            case (.permanent(let left), .permanent(let right)): sign(left, right)
            case (.temporary(let left), .temporary(let right)): order(left, right)
            case (.permanent, .temporary): -1
            case (.temporary, .permanent): 1
            }
        return byKey == 0 ? order(left.entityName, right.entityName) : byKey
    }

    private static func numberOrder(_ left: Value, _ right: Value) -> Int? {
        switch (left, right) {
        case (.int(let left), .int(let right)): sign(left, right)
        case (.int(let left), .decimal(let right)): sign(Decimal(left), right)
        case (.decimal(let left), .int(let right)): sign(left, Decimal(right))
        case (.decimal(let left), .decimal(let right)): sign(left, right)
        case (.int(let left), _): right.binary.map { order(left, $0) }
        case (_, .int(let right)): left.binary.map { -order(right, $0) }
        default:
            if let left = left.binary, let right = right.binary { sign(left, right) } else { nil }
        }
    }

    /// The double of a float or double; nil for other values.
    private var binary: Double? {
        switch self {
        case .float(let float): Double(float)
        case .double(let double): double
        default: nil
        }
    }

    /// Compares exactly, even if the integer has no exact double.
    private static func order(_ integer: Int64, _ double: Double) -> Int {
        // The double nearest to the integer is on the same side of any other double.
        let nearest = Double(integer)
        if nearest != double { return sign(nearest, double) }
        // 2^63 is the only double that rounding an Int64 can produce and that is not an Int64.

        return Int64(exactly: double).map { sign(integer, $0) } ?? -1
    }

    private var kindOrder: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .int, .float, .double, .decimal: 2
        case .string: 3
        case .date: 4
        case .uuid: 5
        case .url: 6
        case .data: 7
        case .json: 8
        case .object: 9
        case .objects: 10
        }
    }
}
