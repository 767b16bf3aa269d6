import Foundation
internal import LarderClient
internal import LarderModel
internal import LarderObjects

extension FetchDescriptor {
    /// The query of the object layer.
    ///
    /// - Parameter permitsUntranslated: Whether parts may remain that cannot be translated, because
    ///   a store that others write gets the descriptor itself.
    /// - Throws: ``SwiftDataError/unsupportedPredicate``, ``SwiftDataError/unsupportedKeyPath`` and
    ///   ``SwiftDataError/unsupportedSortDescriptor``, with the part that cannot be translated.
    func objectFetch(permitsUntranslated: Bool = false) throws -> ObjectFetch {
        var fetch = ObjectFetch(T.entityName)
        fetch.source = self
        do {
            try translatePredicate(into: &fetch)
        } catch {
            guard permitsUntranslated else { throw error }
            fetch.untranslated = untranslated
            fetch.untranslated?.predicateFailure = { StoreFailure.wrapped(error) }
        }
        do {
            fetch.sort = try sortBy.map { try $0.sortKey }
        } catch {
            guard permitsUntranslated else { throw error }
            fetch.untranslated = fetch.untranslated ?? untranslated
            fetch.untranslated?.orderFailure = { StoreFailure.wrapped(error) }
        }
        do {
            try translateProperties(into: &fetch)
        } catch {
            // They say what to read at once, which the store decides.
            guard permitsUntranslated else { throw error }
        }
        fetch.limit = fetchLimit.flatMap { $0 > 0 ? $0 : nil }
        fetch.offset = fetchOffset.flatMap { $0 > 0 ? $0 : nil }
        fetch.includesPendingChanges = includePendingChanges
        return fetch
    }

    private func translatePredicate(into fetch: inout ObjectFetch) throws {
        guard let predicate else { return }
        let bound = try SwiftDataError.translating { () throws(LarderError) in
            try BoundExpression(predicate)
        }
        fetch.predicate = bound.expression
        fetch.arguments = bound.arguments
    }

    private func translateProperties(into fetch: inout ObjectFetch) throws {
        fetch.prefetch = try relationshipKeyPathsForPrefetching.compactMap(Self.name)
        if !propertiesToFetch.isEmpty {
            let model = ModelDescription.of(T.self)
            fetch.properties =
                try propertiesToFetch.filter { model.property(of: $0)?.isEphemeral != true }
                .compactMap(Self.name)
        }
    }

    /// The predicate and the order as instances evaluate them.
    private var untranslated: ObjectFetch.Untranslated {
        let descriptor = self
        return ObjectFetch.Untranslated(
            matches: { owner throws(LarderError) in
                do {
                    guard let model = owner as? T else { return false }
                    return try descriptor.predicate?.evaluate(model) ?? true
                } catch {
                    throw StoreFailure.wrapped(error)
                }
            },
            sorted: { owners in
                owners.compactMap { $0 as? T }.sorted(using: descriptor.sortBy)
            })
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
            if let components = keyPath?.componentsBeforeLocalizedPosition {
                return try localizedSortKey(components, isDescending)
            }
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
            guard let term else { throw unsupported }
            return SortKey(.tree(term), descending: isDescending)
        }
    }

    /// - Parameter components: The description of the key path of a string.
    private func localizedSortKey(
        _ components: Substring, _ isDescending: Bool
    ) throws -> SortKey {
        let path = ModelDescription.of(Compared.self).path(along: components)
        guard let path else { throw unsupported }
        let string = QueryExpression.keyPath(.object, path.names)
        let term = path.isInDocument ? string.typedText : string
        return SortKey(.tree(term), descending: isDescending, stringOrder: .localizedStandard)
    }

    private var unsupported: any Error {
        SwiftDataError.unsupportedSortDescriptor.explained(
            "\(Compared.entityName) cannot be sorted by \(self)")
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
        case .date:
            .function(
                .distance, [.constant(.date(Date(timeIntervalSinceReferenceDate: 0))), self])
        case .data, .json: nil
        }
    }

    /// A member of a document as a string.
    fileprivate var typedText: QueryExpression {
        .function(.concat, [self, .constant(.string(""))])
    }
}
