public import Foundation
package import LarderModel
internal import LarderQuery

/// An order of objects by the values of a property.
open class NSSortDescriptor: NSObject {
    open private(set) var key: String?
    open private(set) var ascending: Bool
    private let order: ((Any, Any) -> ComparisonResult)?

    /// - Parameter key: The key path of a property; nil for the objects themselves.
    public init(key: String?, ascending: Bool) {
        self.key = key
        self.ascending = ascending
        order = nil
    }

    /// An order for objects in memory. A fetch with it is an error.
    public init(key: String?, ascending: Bool, comparator cmptr: @escaping Comparator) {
        self.key = key
        self.ascending = ascending
        order = cmptr
    }

    /// The closure that compares two values.
    open var comparator: Comparator { order ?? Self.compare }

    /// The opposite order.
    open var reversedSortDescriptor: Any {
        order.map { NSSortDescriptor(key: key, ascending: !ascending, comparator: $0) }
            ?? NSSortDescriptor(key: key, ascending: !ascending)
    }

    /// The order of two objects. A value that cannot be read is nil, which comes first.
    open func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        let (first, second) = (value(of: object1), value(of: object2))
        let result: ComparisonResult =
            switch (first, second) {
            case (nil, nil): .orderedSame
            case (nil, _): .orderedAscending
            case (_, nil): .orderedDescending
            case (let first?, let second?): comparator(first, second)
            }
        guard !ascending else { return result }
        switch result {
        case .orderedAscending: return .orderedDescending
        case .orderedDescending: return .orderedAscending
        case .orderedSame: return .orderedSame
        }
    }

    private func value(of object: Any) -> Any? {
        guard let key else { return object }
        return NSExpression(forKeyPath: key).expressionValue(with: object, context: nil)
    }

    /// The order of two values of a store.
    private static func compare(_ first: Any, _ second: Any) -> ComparisonResult {
        guard let first = try? Value(of: first), let second = try? Value(of: second) else {
            return .orderedSame
        }
        let order = first.order(to: second)
        return order < 0 ? .orderedAscending : order > 0 ? .orderedDescending : .orderedSame
    }

    /// The order as a store has it.
    ///
    /// - Throws: `unsupported` for an order by a closure.
    package var sortKey: SortKey {
        get throws(LarderError) {
            guard order == nil else {
                throw LarderError(
                    .unsupported, "a store cannot sort by the comparator of a sort descriptor",
                    hint: "sort the fetched objects by compare(_:to:)")
            }
            let term = try PredicateFormat.path(key ?? "SELF")
            return SortKey(.tree(term), descending: !ascending)
        }
    }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSSortDescriptor else { return false }
        if self === other { return true }
        return order == nil && other.order == nil && key == other.key
            && ascending == other.ascending
    }

    open override var hash: Int { key.hashValue }
}
