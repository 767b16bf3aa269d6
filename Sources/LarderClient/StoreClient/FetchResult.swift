public import LarderModel

/// The result of a fetch: its objects in the requested order, and the objects that it prefetched.
public struct FetchResult: Hashable, Sendable {
    /// The objects that satisfy the predicate.
    public var objects: [Record]
    /// Each prefetched object once, even if several objects refer to it.
    public var related: [PersistentIdentifier: Record]

    public init(objects: [Record] = [], related: [PersistentIdentifier: Record] = [:]) {
        self.objects = objects
        self.related = related
    }

    init(_ found: [FoundRecord]) {
        self.init()
        for found in found {
            let record = found.record
            guard found.isRelated else {
                objects.append(record)
                continue
            }
            // An object that two key paths lead to comes twice, with different lists.
            related[record.identifier, default: record].values
                .merge(record.values) { _, new in new }
        }
    }
}

/// One object of a fetch, before the prefetched ones are separated.
struct FoundRecord: Sendable {
    var record: Record
    var isRelated: Bool
}
