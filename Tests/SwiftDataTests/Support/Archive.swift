import Foundation
import SwiftData

/// A model that leaves values in the history when it is deleted.
@Model final class Parcel {
    @Attribute(.preserveValueOnDeletion) var code: String
    @Attribute(.preserveValueOnDeletion) var sent: Date?
    @Attribute(.preserveValueOnDeletion) var kind = Genre.news
    var note = ""
    @Relationship(inverse: \Depot.parcels) var depot: Depot?

    init(code: String) { self.code = code }
}

@Model final class Depot {
    var name: String
    var parcels: [Parcel] = []

    init(name: String) { self.name = name }
}

func makeArchive() throws -> ModelContainer {
    try ModelContainer(
        for: Parcel.self, Depot.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true))
}

typealias Transactions = HistoryDescriptor<DefaultHistoryTransaction>

/// A flag that observers of a test set, on any thread.
final class Flag: @unchecked Sendable {
    // The lock protects the value.
    private let lock = NSLock()
    private var value = false

    var isSet: Bool {
        get { lock.withLock { value } }
        set { lock.withLock { value = newValue } }
    }
}
