public import Foundation

extension ResultsObserver where SectionName == Never {
    /// The results of a descriptor.
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            fetchDescriptor, modelContext, sectionBy: nil, sectionName: nil, isolation: isolation)
    }

    /// The results of a predicate.
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), modelContext,
            sectionBy: nil, sectionName: nil, isolation: isolation)
    }

    /// The results of a descriptor in the main context, or on another actor in a new context.
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(),
        modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            fetchDescriptor, modelContainer.context(isolation), sectionBy: nil, sectionName: nil,
            isolation: isolation)
    }

    /// The results of a predicate in the main context, or on another actor in a new context.
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []),
            modelContainer.context(isolation), sectionBy: nil, sectionName: nil,
            isolation: isolation)
    }
}

extension ResultsObserver where SectionName == String {
    /// The results of a descriptor in sections.
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(),
        sectionBy: KeyPath<Element, String>, modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            fetchDescriptor, modelContext,
            sectionBy: sectionBy, sectionName: { $0[keyPath: sectionBy] },
            isolation: isolation)
    }

    /// The results of a predicate in sections.
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String>, modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), modelContext,
            sectionBy: sectionBy, sectionName: { $0[keyPath: sectionBy] },
            isolation: isolation)
    }

    /// The results of a descriptor in sections.
    /// They are in the main context, or on another actor in a new one.
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(),
        sectionBy: KeyPath<Element, String>, modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            fetchDescriptor, modelContainer.context(isolation),
            sectionBy: sectionBy, sectionName: { $0[keyPath: sectionBy] },
            isolation: isolation)
    }

    /// The results of a predicate in sections.
    /// They are in the main context, or on another actor in a new one.
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String>, modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []),
            modelContainer.context(isolation),
            sectionBy: sectionBy, sectionName: { $0[keyPath: sectionBy] },
            isolation: isolation)
    }

    /// The results of a descriptor in sections.
    /// A model without a name is in the section "".
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(),
        sectionBy: KeyPath<Element, String?>, modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            fetchDescriptor, modelContext,
            sectionBy: sectionBy, sectionName: { $0[keyPath: sectionBy] ?? "" },
            isolation: isolation)
    }

    /// The results of a predicate in sections.
    /// A model without a name is in the section "".
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String?>, modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), modelContext,
            sectionBy: sectionBy, sectionName: { $0[keyPath: sectionBy] ?? "" },
            isolation: isolation)
    }

    /// The results of a descriptor in sections.
    /// They are in the main context, or on another actor in a new one.
    /// A model without a name is in the section "".
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(),
        sectionBy: KeyPath<Element, String?>, modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            fetchDescriptor, modelContainer.context(isolation),
            sectionBy: sectionBy, sectionName: { $0[keyPath: sectionBy] ?? "" },
            isolation: isolation)
    }

    /// The results of a predicate in sections.
    /// They are in the main context, or on another actor in a new one.
    /// A model without a name is in the section "".
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``.
    public convenience init(
        filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String?>, modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []),
            modelContainer.context(isolation),
            sectionBy: sectionBy, sectionName: { $0[keyPath: sectionBy] ?? "" },
            isolation: isolation)
    }
}

extension ModelContainer {
    /// Sendable unchecked: it returns the main context to the main actor.
    private struct Context: @unchecked Sendable { let context: ModelContext }

    /// The main context for the main actor, a new one for another actor.
    fileprivate func context(_ isolation: isolated (any Actor)?) -> ModelContext {
        guard isolation === MainActor.shared else { return ModelContext(self) }
        return MainActor.assumeIsolated { Context(context: mainContext) }.context
    }
}
