public import Foundation
internal import LarderModel
internal import LarderObjects
internal import Synchronization

/// The models that match a fetch descriptor, which it fetches again after every change that may
/// concern them: one of its context, or a commit of any context in any process.
///
/// It belongs to the actor that has made it, and changes there only. One that no actor has made
/// fetches when it is read. Observation reports new results, and the models that have changed. It
/// ends with its last reference; its context does not keep it.
public final class ResultsObserver<Element: PersistentModel, SectionName: Hashable>: Observable,
    CustomDebugStringConvertible
{
    public let modelContext: ModelContext
    /// The property with the names of the sections; nil for a result without sections.
    public let sectionBy: PartialKeyPath<Element>?

    private let sectionName: ((Element) -> SectionName)?
    private let registrar = ObservationRegistrar()
    private let signal: RefetchSignal
    private var descriptor: FetchDescriptor<Element>
    private var models: [Element] = []
    private var sectionCollection: ResultsSectionCollection<Element, SectionName>?
    private var observations: [any AnyObject & Sendable] = []

    init(
        _ descriptor: FetchDescriptor<Element>, _ modelContext: ModelContext,
        sectionBy: PartialKeyPath<Element>?, sectionName: ((Element) -> SectionName)?,
        isolation: isolated (any Actor)?
    ) throws {
        self.modelContext = modelContext
        self.sectionBy = sectionBy
        self.sectionName = sectionName
        self.descriptor = descriptor
        signal = RefetchSignal()
        // Changes after this are announced, so the first result misses none.
        observe(isolation)
        try refetch()
    }

    // MARK: - Results

    public var fetchDescriptor: FetchDescriptor<Element> {
        registrar.access(self, keyPath: \.fetchDescriptor)
        return descriptor
    }

    /// Another predicate fetches at once. One that the store cannot evaluate is logged, and leaves
    /// the results as they are.
    public var filterBy: Predicate<Element>? {
        get {
            registrar.access(self, keyPath: \.filterBy)
            return descriptor.predicate
        }
        set {
            registrar.withMutation(of: self, keyPath: \.filterBy) {
                registrar.withMutation(of: self, keyPath: \.fetchDescriptor) {
                    descriptor.predicate = newValue
                }
            }
            update()
        }
    }

    /// Another order fetches at once.
    public var sortBy: [SortDescriptor<Element>] {
        get {
            registrar.access(self, keyPath: \.sortBy)
            return descriptor.sortBy
        }
        set {
            registrar.withMutation(of: self, keyPath: \.sortBy) {
                registrar.withMutation(of: self, keyPath: \.fetchDescriptor) {
                    descriptor.sortBy = newValue
                }
            }
            update()
        }
    }

    public var results: FetchResultsCollection<Element> {
        registrar.access(self, keyPath: \.results)
        updateIfUnscheduled()
        return FetchResultsCollection(elements: models)
    }

    /// The models by the names of their sections; nil for a result without sections.
    public var sections: ResultsSectionCollection<Element, SectionName>? {
        registrar.access(self, keyPath: \.sections)
        updateIfUnscheduled()
        return sectionCollection
    }

    /// The model at a position: of a section and in it. Without sections the section is 0, or left
    /// out.
    ///
    /// - Returns: nil if there is no such position.
    public func element(at indexPath: IndexPath) -> Element? {
        let (results, sections) = (results, sections)
        guard let last = indexPath.last, indexPath.count <= 2 else { return nil }
        guard let sections else {
            guard indexPath.count == 1 || indexPath.first == 0 else { return nil }
            return results.indices.contains(last) ? results[last] : nil
        }
        guard indexPath.count == 2, sections.indices.contains(indexPath[0]) else { return nil }
        let section = sections[indexPath[0]]
        return section.indices.contains(last) ? section[last] : nil
    }

    /// The position of a model; nil if it is not in the result.
    public func indexPath(for element: Element) -> IndexPath? {
        let (results, sections) = (results, sections)
        guard let sections else {
            return results.firstIndex(of: element).map { IndexPath(indexes: [0, $0]) }
        }
        for (index, section) in sections.enumerated() {
            if let position = section.firstIndex(of: element) {
                return IndexPath(indexes: [index, position])
            }
        }
        return nil
    }

    public var debugDescription: String {
        let sections = sectionCollection.map { ", \($0.count) sections" } ?? ""
        return "ResultsObserver<\(Element.self)>(\(models.count) results\(sections))"
    }

    // MARK: - Changes

    private func observe(_ isolation: (any Actor)?) {
        let target = WeakObserver(observer: self)
        let hasActor = isolation != nil
        // An actor may own its observer.
        let changed: @Sendable () -> Void = { [signal, weak isolation] in
            guard signal.raise() else { return }
            guard hasActor else { return target.announce() }
            guard let isolation else { return }
            Task { await target.update(isolation) }
        }
        observations.append(modelContext.listeners.add(changed))
        let interest = CommitInterest(Element.self, modelContext.objects.model)
        for store in modelContext.objects.model.allStores {
            observations.append(
                store.observeCommits { [signal] transaction in
                    guard signal.readsOthers || interest.includes(transaction) else { return }
                    changed()
                })
        }
    }

    /// Fetches again and reports what has changed. After an error the results remain.
    fileprivate func update() {
        signal.lower()
        do {
            try refetch()
        } catch {
            let reason = String(safelyDescribing: error)
            modelContext.core.log("the results of \(Element.entityName) are not updated: \(reason)")
        }
    }

    /// An observer without an actor has nowhere to fetch but here.
    private func updateIfUnscheduled() {
        if signal.isAnnounced { update() }
    }

    fileprivate func announce() {
        signal.announce()
        registrar.withMutation(of: self, keyPath: \.results) {}
        registrar.withMutation(of: self, keyPath: \.sections) {}
    }

    private func refetch() throws {
        let fetch = try modelContext.objectFetch(descriptor)
        let isSectionStored = sectionBy.map { Element.property(at: $0) != nil } ?? true
        signal.setReadsOthers(fetch.readsOtherObjects || !isSectionStored)
        let new = try modelContext.fetch(descriptor)
        let isSame = new.count == models.count && zip(new, models).allSatisfy { $0 === $1 }
        if !isSame {
            registrar.withMutation(of: self, keyPath: \.results) { models = new }
        }
        guard let sectionName else { return }
        let sections = ResultsSectionCollection(new, name: sectionName)
        let isEqual =
            sectionCollection.map { old in
                old.count == sections.count
                    && zip(old, sections).allSatisfy { $0.name == $1.name && $0.elementsEqual($1) }
            } ?? false
        if !isEqual || !isSame {
            registrar.withMutation(of: self, keyPath: \.sections) { sectionCollection = sections }
        }
    }
}

/// A results observer, whatever its types are.
private protocol Refetching: AnyObject {
    func update()
    func announce()
}

extension ResultsObserver: Refetching {}

/// Sendable unchecked: the observer is used on its actor; `announce` only raises a flag and calls
/// its registrar, which both have locks.
private struct WeakObserver: @unchecked Sendable {
    weak var observer: (any Refetching)?

    func update(_ isolation: isolated any Actor) { observer?.update() }

    func announce() { observer?.announce() }
}

/// Whether an observer has to fetch again.
private final class RefetchSignal: Sendable {
    private struct State {
        var isRaised = false
        var isAnnounced = false
        var readsOthers = true
    }

    private let state = Mutex(State())

    /// - Returns: whether it was not raised before.
    func raise() -> Bool {
        state.withLock { state in
            defer { state.isRaised = true }
            return !state.isRaised
        }
    }

    func lower() {
        state.withLock { state in
            state.isRaised = false
            state.isAnnounced = false
        }
    }

    func announce() { state.withLock { $0.isAnnounced = true } }

    var isAnnounced: Bool { state.withLock { $0.isAnnounced } }

    func setReadsOthers(_ readsOthers: Bool) { state.withLock { $0.readsOthers = readsOthers } }

    /// Whether the result depends on objects of other entities.
    var readsOthers: Bool { state.withLock { $0.readsOthers } }
}

/// The entities whose changes concern the models of a type.
struct CommitInterest: Sendable {
    private let names: Set<String>

    init(_ type: any PersistentModel.Type, _ model: ObjectModel) {
        let name = type.entityName
        names = Set(model.entities.keys.filter { model.isOf($0, name) })
    }

    func includes(_ transaction: LarderModel.HistoryTransaction) -> Bool {
        transaction.runs.contains { names.contains($0.entityName) }
    }
}
