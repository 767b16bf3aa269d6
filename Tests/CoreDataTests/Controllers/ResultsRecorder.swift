import CoreData

/// A delegate that applies the reported changes to arrays, as a table in a window does: what was
/// removed by the indexes before, then what was inserted by the indexes after.
///
/// Sendable unchecked: a test reads it after the context has processed its changes.
final class ResultsRecorder: NSFetchedResultsControllerDelegate, @unchecked Sendable {
    private(set) var calls: [String] = []
    private(set) var sections: [(name: String, objects: [NSManagedObject])] = []
    private(set) var controllers: [NSFetchedResultsController<any NSFetchRequestResult>] = []
    private(set) var threads: [Bool] = []
    private(set) var differences: [CollectionDifference<NSManagedObjectID>] = []
    var title: String?
    var didChange: () -> Void = {}
    private var removed: [IndexPath] = []
    private var inserted: [(path: IndexPath, object: NSManagedObject)] = []
    private var removedSections: [Int] = []
    private var insertedSections: [(index: Int, name: String)] = []

    init<Result>(_ controller: NSFetchedResultsController<Result>) {
        controller.delegate = self
        for section in controller.sections ?? [] {
            sections.append(
                (section.name, (section.objects ?? []).compactMap { $0 as? NSManagedObject }))
        }
    }

    func take() -> [String] {
        defer { calls = [] }
        return calls
    }

    func controllerWillChangeContent(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) {
        calls.append("will")
        controllers.append(controller)
        threads.append(Thread.isMainThread)
        (removed, inserted, removedSections, insertedSections) = ([], [], [], [])
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange anObject: Any, at indexPath: IndexPath?, for type: NSFetchedResultsChangeType,
        newIndexPath: IndexPath?
    ) {
        guard let object = anObject as? NSManagedObject else { return }
        let title = object.value(forKey: "title") as? String ?? ""
        let from = indexPath.map { " \($0.section).\($0.row)" } ?? ""
        let to = newIndexPath.map { " to \($0.section).\($0.row)" } ?? ""
        calls.append("\(type) \(title)\(from)\(to)")
        if type == .delete || type == .move, let indexPath { removed.append(indexPath) }
        if type == .insert || type == .move, let newIndexPath {
            inserted.append((newIndexPath, object))
        }
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {
        calls.append("\(type) section \(sectionInfo.name) \(sectionIndex)")
        if type == .delete {
            removedSections.append(sectionIndex)
        } else {
            insertedSections.append((sectionIndex, sectionInfo.name))
        }
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        differences.append(diff)
    }

    func controllerDidChangeContent(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>
    ) {
        calls.append("did")
        for path in removed.sorted(by: >) { sections[path.section].objects.remove(at: path.row) }
        for index in removedSections.sorted(by: >) { sections.remove(at: index) }
        for (index, name) in insertedSections.sorted(by: { $0.index < $1.index }) {
            sections.insert((name, []), at: index)
        }
        for (path, object) in inserted.sorted(by: { $0.path < $1.path }) {
            sections[path.section].objects.insert(object, at: path.row)
        }
        didChange()
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String? { title }
}

extension NSFetchedResultsController where ResultType == Article {
    /// A controller of all articles, by the names of their categories or in one section.
    convenience init(
        _ context: NSManagedObjectContext, sections: String? = nil,
        _ order: [String] = ["title"], _ predicate: NSPredicate? = nil
    ) {
        let request: NSFetchRequest<Article> = Article.fetchRequest()
        request.sortDescriptors = order.map { NSSortDescriptor(key: $0, ascending: true) }
        request.predicate = predicate
        self.init(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections,
            cacheName: "articles")
    }

    /// The titles by section.
    var titles: [[String]] {
        (sections ?? []).map { ($0.objects ?? []).compactMap { ($0 as? Article)?.title } }
    }
}
