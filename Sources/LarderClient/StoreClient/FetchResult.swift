public import LarderModel

/// What a fetch found: its objects in their order, and those that it prefetched.
public struct FetchResult: Hashable, Sendable {
    public var objects: [Record]
    /// Each prefetched object once, however many of the others refer to it.
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
            // By another key path it may have come with other lists.
            related[record.identifier, default: record].values
                .merge(record.values) { _, new in new }
        }
    }
}

/// An object of an answer.
struct FoundRecord: Sendable {
    var record: Record
    var isRelated: Bool
}
