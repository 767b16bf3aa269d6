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
        fetch.prefetch = try relationshipKeyPathsForPrefetching.compactMap(Self.name)
        if !propertiesToFetch.isEmpty {
            fetch.properties = try propertiesToFetch.compactMap(Self.name)
        }
        return fetch
    }

    /// The name of the property at a key path; nil for the identifier.
    private static func name(of keyPath: PartialKeyPath<T>) throws -> String? {
        switch T.property(at: keyPath) {
        case .named(let name)?: return name
        case .identifier?: return nil
        case nil:
            throw SwiftDataError.unsupportedKeyPath.explained(
                "\(T.entityName) has no property at \(keyPath)")
        }
    }
}

extension SortDescriptor where Compared: PersistentModel {
    fileprivate var sortKey: SortKey {
        get throws {
            let isDescending = order == .reverse
            let term: QueryExpression?
            switch keyPath.map({ ($0, Compared.property(at: $0)) }) {
            case (_, .identifier?)?: term = .object
            case (_, .named(let name)?)?: term = .keyPath(.object, [name])
            case (let keyPath, nil)?:
                term = ModelDescription.of(Compared.self).path(along: keyPath).flatMap { path in
                    let expression = QueryExpression.keyPath(.object, path.names)
                    return path.isInDocument
                        ? expression.typed(as: Swift.type(of: keyPath).valueType) : expression
                }
            case nil: term = nil
            }
            guard let term else {
                throw SwiftDataError.unsupportedSortDescriptor.explained(
                    "\(Compared.entityName) cannot be sorted by \(self)")
            }
            return SortKey(
                .tree(term), descending: isDescending,
                stringOrder: term == .object ? .plain : stringOrder)
        }
    }

    /// `localizedStandard` is the default of a sort descriptor for strings.
    private var stringOrder: StringOrder {
        guard let comparator = stringComparator else { return .plain }
        switch comparator {
        case .lexical: return .plain
        default: return .localizedStandard
        }
    }
}

extension QueryExpression {
    /// A member of a document as a value of a type: alone, it is a text.
    ///
    /// - Returns: nil for a type without an order.
    fileprivate func typed(as type: any Any.Type) -> QueryExpression? {
        switch AttributeCoding.coding(of: ValueType(type).wrapped).type {
        case .string, .uuid, .url, .bool: self
        case .int16, .int32, .int64: .function(.add, [self, .constant(.int(0))])
        case .float, .double, .decimal: .function(.add, [self, .constant(.double(0))])
        case .date: .function(.coalesce, [self, .constant(.date(.distantPast))])
        case .data, .json: nil
        }
    }
}
