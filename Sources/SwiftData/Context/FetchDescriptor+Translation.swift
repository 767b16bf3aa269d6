import Foundation
internal import LarderClient
internal import LarderModel
internal import LarderObjects

extension FetchDescriptor {
    /// The query of the object layer.
    ///
    /// - Throws: ``SwiftDataError/unsupportedPredicate``, ``SwiftDataError/unsupportedKeyPath`` and
    ///   ``SwiftDataError/unsupportedSortDescriptor``, with the part that cannot be translated.
    func objectFetch() throws -> ObjectFetch {
        var fetch = ObjectFetch(T.entityName)
        fetch.source = self
        if let predicate {
            let bound = try SwiftDataError.translating { () throws(LarderError) in
                try BoundExpression(predicate)
            }
            fetch.predicate = bound.expression
            fetch.arguments = bound.arguments
        }
        fetch.sort = try sortBy.map { try $0.sortKey }
        fetch.limit = fetchLimit.flatMap { $0 > 0 ? $0 : nil }
        fetch.offset = fetchOffset.flatMap { $0 > 0 ? $0 : nil }
        fetch.includesPendingChanges = includePendingChanges
        fetch.prefetch = try relationshipKeyPathsForPrefetching.map { keyPath in
            guard case .named(let name)? = T.property(at: keyPath) else {
                throw SwiftDataError.unsupportedKeyPath.explained(
                    "\(T.entityName) has no property at \(keyPath)")
            }
            return name
        }
        return fetch
    }
}

extension SortDescriptor where Compared: PersistentModel {
    fileprivate var sortKey: SortKey {
        get throws {
            guard let keyPath, let property = Compared.property(at: keyPath) else {
                throw SwiftDataError.unsupportedSortDescriptor.explained(
                    "\(Compared.entityName) cannot be sorted by \(self)")
            }
            let isDescending = order == .reverse
            switch property {
            case .identifier: return SortKey(.tree(.object), descending: isDescending)
            case .named(let name):
                return SortKey(
                    .tree(.keyPath(.object, [name])), descending: isDescending,
                    stringOrder: stringOrder(of: name))
            }
        }
    }

    /// `localizedStandard` is the default of a sort descriptor for strings.
    private func stringOrder(of name: String) -> StringOrder {
        guard let comparator = stringComparator else { return .plain }
        switch comparator {
        case .lexical: return .plain
        default: return .localizedStandard
        }
    }
}
