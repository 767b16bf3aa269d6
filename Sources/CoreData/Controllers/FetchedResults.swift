internal import CoreDataPredicates
internal import Foundation
internal import LarderModel
internal import LarderObjects

/// The state of a fetched results controller. Its controllers of different result types share it: a
/// delegate gets one of `any NSFetchRequestResult`.
///
/// Sendable unchecked: what changes is under the lock of the context's objects. The delegate is
/// called without it, on the thread that processes the changes.
final class FetchedResults: @unchecked Sendable {
    let context: NSManagedObjectContext
    let sectionNameKeyPath: String?
    weak var delegate: (any NSFetchedResultsControllerDelegate)?
    /// The controller that the program has made, whose titles of sections its class may change.
    weak var controller: (any FetchedResultsController)?
    private weak var shownController: NSFetchedResultsController<any NSFetchRequestResult>?
    private let request: any ResultsRequest
    private var current: ResultSections?

    init(
        _ request: any ResultsRequest, _ context: NSManagedObjectContext,
        sectionNameKeyPath: String?
    ) {
        self.request = request
        self.context = context
        self.sectionNameKeyPath = sectionNameKeyPath
    }

    /// The sections; nil before the first fetch.
    var result: ResultSections? { context.objects.locked { current } }

    // MARK: - Fetching

    /// - Throws: an `NSError`: that of the fetch, or for a request without an order, or a key path
    ///   of sections that its entity does not have.
    func performFetch() throws {
        let sections = try fetched()
        context.objects.locked { current = sections }
        if request.tracksChanges { context.add(self) }
    }

    private func fetched() throws -> ResultSections {
        let path = try translating { () throws(LarderError) in try checkedPath() }
        let objects = try request.results(in: context)
        guard let path else { return ResultSections(objects, names: nil) }
        return try translating { () throws(LarderError) in
            var names: [String] = []
            for object in objects { names.append(try sectionName(of: object, path)) }
            return ResultSections(objects, names: names)
        }
    }

    /// The steps of the key path of sections.
    private func checkedPath() throws(LarderError) -> [String]? {
        guard request.isSorted else {
            throw LarderError(
                .malformedPredicate, "the request of a fetched results controller has no order",
                hint: "set its sortDescriptors")
        }
        guard let sectionNameKeyPath else { return nil }
        let path = sectionNameKeyPath.split(separator: ".").map { String($0) }
        let name = try request.requiredEntityName()
        var entity = context.compiledModel?.descriptions[name]
        for (index, step) in path.enumerated() {
            let property = entity?.propertiesByName[step]
            let isLast = index == path.count - 1
            let relationship = property as? NSRelationshipDescription
            // The class of the objects may have what the entity does not have.
            let mayName = property == nil || property is NSAttributeDescription
            guard request.tracksChanges,
                entity != nil, isLast ? mayName : relationship?.isToMany == false
            else { throw Self.noSections(sectionNameKeyPath, name) }
            entity = relationship?.destinationEntity
        }
        guard !path.isEmpty else { throw Self.noSections(sectionNameKeyPath, name) }
        return path
    }

    private static func noSections(_ path: String, _ entityName: String) -> LarderError {
        LarderError(
            .malformedPredicate,
            "`\(path.prefix(Limits.nameBytesMax))` does not name sections of \(entityName)",
            hint: "use an attribute, also of relationships to one object, or a name for which the "
                + "class overrides value(forUndefinedKey:), and fetch objects")
    }

    private func sectionName(of object: Any, _ path: [String]) throws(LarderError) -> String {
        var value: Any? = object
        for step in path {
            guard let owner = value as? NSManagedObject else { return "" }
            owner.lacksKey = false
            value = owner.value(forKey: step)
            guard !owner.lacksKey else {
                throw Self.noSections(sectionNameKeyPath ?? "", owner.entity.name ?? "")
            }
        }
        switch value {
        case let text as String: return text
        case let number as NSNumber: return number.stringValue
        case let other?: return "\(other)"
        case nil: return ""
        }
    }

    /// Whether an object's section can change only with a stored attribute of the object.
    private func sectionsAreStored(_ entityName: String) -> Bool {
        guard let sectionNameKeyPath else { return true }
        let entity = context.compiledModel?.descriptions[entityName]
        return entity?.attributesByName[sectionNameKeyPath]?.isTransient == false
    }

    // MARK: - Changes

    /// The result after changes of the context; nil if they do not concern it, or nobody wants to
    /// know. After an error the result stays.
    func refetched(after changes: ContextChanges) -> ResultSections? {
        guard delegate != nil, result != nil, concerns(changes) else { return nil }
        do {
            return try fetched()
        } catch {
            Log.write(
                "the results of a fetched results controller are not updated: "
                    + error.localizedDescription)
            return nil
        }
    }

    private func concerns(_ changes: ContextChanges) -> Bool {
        guard let name = try? request.requiredEntityName(), !changes.isReset,
            !request.readsOtherObjects, sectionsAreStored(name)
        else { return true }
        let model = context.objects.model
        return changes.entityNames.contains { model.isOf($0, name) }
            || changes.all.contains { model.isOf($0.object.entity?.name ?? "", name) }
    }

    /// Shows a result, and tells the delegate how it differs from the one before.
    func show(_ new: ResultSections, _ changes: ContextChanges) {
        var changed: Set<ObjectIdentifier> = []
        for (object, kind) in changes.all where kind == .updated || kind == .refreshed {
            changed.insert(ObjectIdentifier(object))
        }
        let old = context.objects.locked {
            defer { current = new }
            return current ?? .empty
        }
        let difference = ResultChanges(from: old, to: new) {
            changed.contains(ResultSections.key($0))
        }
        guard let delegate, !difference.isEmpty else { return }
        let controller = anyController
        delegate.controllerWillChangeContent(controller)
        for index in difference.deletedSections {
            delegate.controller(
                controller, didChange: section(old.sections[index]), atSectionIndex: index,
                for: .delete)
        }
        for index in difference.insertedSections {
            delegate.controller(
                controller, didChange: section(new.sections[index]), atSectionIndex: index,
                for: .insert)
        }
        for change in difference.changes {
            delegate.controller(
                controller, didChange: change.object, at: change.from, for: change.type,
                newIndexPath: change.to)
        }
        if sectionNameKeyPath == nil, let identifiers = difference.difference {
            delegate.controller(controller, didChangeContentWith: identifiers)
        }
        delegate.controllerDidChangeContent(controller)
    }

    // MARK: - Controllers

    /// A controller for a delegate.
    var anyController: NSFetchedResultsController<any NSFetchRequestResult> {
        context.objects.locked {
            if let own = controller as? NSFetchedResultsController<any NSFetchRequestResult> {
                return own
            }
            if let shownController { return shownController }
            let new = NSFetchedResultsController<any NSFetchRequestResult>(self, request.untyped())
            shownController = new
            return new
        }
    }

    // MARK: - Sections

    func section(_ section: ResultSections.Section) -> any NSFetchedResultsSectionInfo {
        FetchedSection(section, self)
    }

    func title(_ sectionName: String) -> String? {
        controller?.title(sectionName) ?? defaultTitle(sectionName)
    }

    func defaultTitle(_ sectionName: String) -> String? {
        let own = delegate?.controller(anyController, sectionIndexTitleForSectionName: sectionName)
        return own ?? sectionName.first.map { $0.uppercased() }
    }

    /// The titles of the sections in their order, each once, with the index of its first section.
    var titles: [(title: String, section: Int)] {
        var seen: Set<String> = []
        return (result?.sections ?? []).enumerated().compactMap { index, section in
            guard let title = title(section.name), seen.insert(title).inserted else { return nil }
            return (title, index)
        }
    }
}

/// A section of a result, as it was when a program has asked for it.
final class FetchedSection: NSFetchedResultsSectionInfo {
    private let section: ResultSections.Section
    private let results: FetchedResults

    init(_ section: ResultSections.Section, _ results: FetchedResults) {
        self.section = section
        self.results = results
    }

    var name: String { section.name }
    var indexTitle: String? { results.title(section.name) }
    var numberOfObjects: Int { section.objects.count }
    var objects: [Any]? { section.objects }
}

/// A controller, whatever its result type is.
protocol FetchedResultsController: AnyObject {
    var results: FetchedResults { get }
    func title(_ sectionName: String) -> String?
}

/// A request, whatever its result type is.
protocol ResultsRequest {
    var isSorted: Bool { get }
    /// Whether the results are objects, whose changes a controller can follow.
    var tracksChanges: Bool { get }
    /// Whether the result depends on other objects than those that it has.
    var readsOtherObjects: Bool { get }
    func requiredEntityName() throws(LarderError) -> String
    func results(in context: NSManagedObjectContext) throws -> [Any]
    func untyped() -> NSFetchRequest<any NSFetchRequestResult>
}

extension NSFetchRequest: ResultsRequest {
    var isSorted: Bool { sortDescriptors?.isEmpty == false }

    var tracksChanges: Bool { resultType == .managedObjectResultType }

    var readsOtherObjects: Bool { (try? objectFetch().readsOtherObjects) ?? true }

    func results(in context: NSManagedObjectContext) throws -> [Any] {
        try context.fetch(self).map { $0 }
    }

    func untyped() -> NSFetchRequest<any NSFetchRequestResult> {
        copy(as: (any NSFetchRequestResult).self)
    }
}
