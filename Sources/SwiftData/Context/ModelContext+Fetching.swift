import Foundation
internal import LarderModel
internal import LarderObjects

extension ModelContext {
    /// The query of the object layer. For a store that others write it may lack what cannot be
    /// translated, because the store gets the descriptor itself.
    ///
    /// - Throws: ``SwiftDataError/unknownSchema`` for a class of another version, and the errors of
    ///   the translation.
    func objectFetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> ObjectFetch {
        try check(T.self)
        // The fetch itself reports an unknown entity.
        let isCustom = (try? objects.model.store(of: T.entityName)) is any OtherStore
        return try descriptor.objectFetch(permitsUntranslated: isCustom)
    }

    /// - Throws: ``SwiftDataError/unknownSchema`` for a class of another version.
    package func check<T: PersistentModel>(_ type: T.Type) throws { try core.check(type) }

    public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
        let fetch = try objectFetch(descriptor)
        return try SwiftDataError.translating { () throws(LarderError) in
            try objects.fetch(fetch, as: T.self)
        }
    }

    /// The models as a collection that reads them in batches when they are used.
    public func fetch<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, batchSize: Int
    ) throws -> FetchResultsCollection<T> {
        guard !descriptor.includePendingChanges || !hasChanges else {
            throw SwiftDataError.includePendingChangesWithBatchSize
        }
        let identifiers = try fetchIdentifiers(descriptor)
        return FetchResultsCollection(
            BatchedModels<T>(self, identifiers, batchSize: max(1, batchSize)))
    }

    public func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
        let fetch = try objectFetch(descriptor)
        return try SwiftDataError.translating { () throws(LarderError) in
            try objects.count(fetch)
        }
    }

    public func fetchIdentifiers<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>
    ) throws -> [PersistentIdentifier] {
        if descriptor.includePendingChanges, hasChanges, !descriptor.sortBy.isEmpty {
            throw SwiftDataError.sortingPendingChangesWithIdentifiers
        }
        let fetch = try objectFetch(descriptor)
        return try SwiftDataError.translating { () throws(LarderError) in
            try objects.identifiers(fetch)
        }
    }

    public func fetchIdentifiers<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, batchSize: Int
    ) throws -> FetchResultsCollection<PersistentIdentifier> {
        FetchResultsCollection(elements: try fetchIdentifiers(descriptor))
    }

    /// Calls a closure for each model, reading a batch at a time, so that memory is bounded.
    ///
    /// - Parameter allowEscapingMutations: Whether the closure may leave changes in the context.
    ///   Otherwise a change that it leaves is an error.
    public func enumerate<T: PersistentModel>(
        _ fetch: FetchDescriptor<T>, batchSize: Int = 5000,
        allowEscapingMutations: Bool = false, block: (_ model: T) throws -> Void
    ) throws {
        let fetch = try objectFetch(fetch)
        let identifiers = try SwiftDataError.translating { () throws(LarderError) in
            try objects.identifiers(fetch)
        }
        var start = 0
        while start < identifiers.count {
            let part = Array(identifiers[start...].prefix(max(1, batchSize)))
            start += part.count
            let batch = try SwiftDataError.translating { () throws(LarderError) in
                try objects.objects(for: part)
            }
            for object in batch {
                guard let model = objects.instance(of: object) as? T else { continue }
                let hadChanges = hasChanges
                try block(model)
                guard allowEscapingMutations || hadChanges || !hasChanges else {
                    throw SwiftDataError.modelValidationFailure.explained(
                        "the closure of enumerate left changes; save them in the closure, or set "
                            + "allowEscapingMutations")
                }
            }
        }
    }

    /// The model with an identifier, without reading it. If there is no such object, it is a model
    /// that says that it is deleted.
    public func model(for persistentModelID: PersistentIdentifier) -> any PersistentModel {
        // It reads nothing: the only error is that of an unknown entity.
        if let object = try? objects.object(for: persistentModelID),
            let model = objects.instance(of: object) as? any PersistentModel
        {
            return model
        }
        return core.goneModel(entityName: persistentModelID.entityName, self)
    }

    /// The model with an identifier if the context has it; it is never read from the store.
    public func registeredModel<T: PersistentModel>(
        for persistentModelID: PersistentIdentifier
    ) -> T? {
        objects.registeredObject(for: persistentModelID).flatMap {
            objects.instance(of: $0) as? T
        }
    }

    /// The model with an identifier, read from the store if the context does not have it; nil if
    /// the object does not exist, it will be deleted by the next save, or it is in a store that the
    /// container does not have.
    public func existingModel<T: PersistentModel>(
        for persistentModelID: PersistentIdentifier
    ) throws -> T? {
        try SwiftDataError.translating { () throws(LarderError) in
            try existing(persistentModelID)
        }
    }

    /// The model with an identifier, as ``existingModel(for:)`` returns it. One that cannot be read
    /// is not known to be gone: its values are read when they are used, and the next fetch or save
    /// is an error.
    func existingOrUnreadModel<T: PersistentModel>(for identifier: PersistentIdentifier) -> T? {
        do throws(LarderError) {
            return try existing(identifier)
        } catch {
            objects.readFailed(error)
            return model(for: identifier) as? T
        }
    }

    private func existing<T: PersistentModel>(
        _ identifier: PersistentIdentifier
    ) throws(LarderError) -> T? {
        try objects.existingObject(for: identifier).flatMap { objects.instance(of: $0) as? T }
    }
}
