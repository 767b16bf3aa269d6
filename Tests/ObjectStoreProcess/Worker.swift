import LarderModel
import LarderObjects
import LarderQuery

/// One thread of `work`, with a context that follows the commits of all others.
///
/// Each save inserts an entry, counts it in an entry of the worker, and every fourth changes one of
/// the entries that all workers share. Sendable unchecked: it passes from the thread that works to
/// the one that compares, when the first has ended.
final class Worker: @unchecked Sendable {
    private let context: ObjectContext
    private let prefix: String
    private let counter = Entry()
    private var shared: [Entry] = []
    private var number = 0

    init(_ model: ObjectModel, prefix: String) {
        context = ObjectContext(model)
        self.prefix = prefix
        context.owner = self
        context.followsCommits = true
    }

    /// Reads the shared entries, and keeps them.
    func begin() throws(LarderError) {
        var fetch = ObjectFetch("Entry")
        let isShared = "name BEGINSWITH 'shared-'"
        fetch.predicate = try PredicateFormat.parse(isShared, name: "predicate").expression
        fetch.sort = [SortKey(.tree(.keyPath("name")))]
        shared = try context.fetch(fetch).compactMap { context.instance(of: $0) as? Entry }
        try insert(counter, prefix)
    }

    /// - Returns: the name of the entry that was saved.
    func save() throws(LarderError) -> String {
        number += 1
        let name = "\(prefix)-\(number)"
        try insert(Entry(), name)
        counter[Entry.count] = .int(Int64(number))
        if number.isMultiple(of: 4), !shared.isEmpty {
            shared[number / 4 % shared.count][Entry.text] = .string(name)
        }
        _ = try context.save()
        return name
    }

    func count() throws(LarderError) -> Int { try context.count(ObjectFetch("Entry")) }

    /// The texts of the shared entries as the context has them by now, without reading any.
    func texts() -> String {
        context.applyCommitsOfOthers()
        return shared.map { entry in
            if case .string(let text) = entry[Entry.text] { text } else { "-" }
        }.joined(separator: ",")
    }

    private func insert(_ entry: Entry, _ name: String) throws(LarderError) {
        try context.insert(entry)
        entry[Entry.name] = .string(name)
    }
}

/// An instance as the macro of a model class would make it.
final class Entry: ObjectOwner {
    static let (name, count, text) = (0, 1, 2)

    var _$object: StoredObject
    let _$entityName = "Entry"

    init(_ object: StoredObject = StoredObject()) {
        _$object = object
        if object.owner == nil { object.owner = self }
    }

    /// The worker keeps the context, and its entries.
    func _$join(_ contextOwner: AnyObject) {}
    func _$unite() {}

    subscript(slot: Int) -> Value {
        get { _$object.value(at: slot) ?? .null }
        set { _$object.setValue(newValue, at: slot) }
    }
}

extension ObjectModel {
    /// The model of the entries of a store.
    convenience init(entriesOf store: any ObjectStore, _ schema: Schema) {
        let entities = schema.entities.map { entity in
            ObjectEntity(
                entity, names: ["name", "count", "text"],
                OwnerClass(make: { Entry($0) }, notify: { _, _ in }))
        }
        self.init(entities: entities, stores: ["Entry": store])
    }
}
