import LarderModel
import Synchronization

/// Writes the values that objects had before a transaction into the history, for entities with the
/// history `values`.
///
/// The first value of a property within a transaction stays: it is the one before the transaction.
/// A value that is too long, and all values after those of a transaction have become too many, are
/// left out, so that the history does not have them.
package struct FormerValues {
    private struct Property: Hashable {
        let object: ObjectKey
        let name: String
    }

    private let transaction: Int64
    private let counters: Counters
    private var byteCount = 0
    /// Values that were too long. A later one of these properties is not the one before the
    /// transaction.
    private var leftOut: Set<Property> = []

    package init(transaction: Int64, _ counters: Counters) {
        self.transaction = transaction
        self.counters = counters
    }

    mutating func record(
        _ value: SQLValue, of name: String, _ object: ObjectKey, _ context: ChangeContext
    ) throws(SQLError) {
        let property = Property(object: object, name: name)
        let bytes = value.byteCount
        guard byteCount < Limits.formerValuesBytesMax, !leftOut.contains(property) else {
            return counters.noteLeftOut()
        }
        guard bytes <= Limits.formerValueBytesMax else {
            leftOut.insert(property)
            return counters.noteLeftOut()
        }
        byteCount += bytes
        let entity = context.schema.entities[object.entity]
        try context.session.run(
            Layout.recordFormerValue(context.schema.dialect),
            [
                .integer(transaction), .text(entity.name), .integer(object.key), .text(name),
                context.schema.dialect.recorded(value),
            ])
        counters.note(bytes: bytes)
    }

    /// Records the destination of a to-one as its short identifier, such as `Author/p7`.
    mutating func record(
        _ key: Int64?, in relationship: StoredRelationship, of object: ObjectKey,
        _ context: ChangeContext
    ) throws(SQLError) {
        let entity = context.schema.entities[object.entity]
        guard entity.recordsValues, !context.isInserted(object) else { return }
        var value = SQLValue.null
        if let key {
            let destination = try context.object(relationship.destinationNumber, key)
            value = .text("\(context.schema.entities[destination.entity].name)/p\(key)")
        }
        try record(value, of: relationship.relationship.name, object, context)
    }
}

extension FormerValues {
    /// The values of all transactions since the store was opened.
    package final class Counters: Sendable {
        private let count = Atomic<Int64>(0)
        private let bytes = Atomic<Int64>(0)
        private let leftOut = Atomic<Int64>(0)

        package init() {}

        func note(bytes: Int) {
            count.add(1, ordering: .relaxed)
            self.bytes.add(Int64(bytes), ordering: .relaxed)
        }

        func noteLeftOut() { leftOut.add(1, ordering: .relaxed) }

        package var statistics: [Statistic] {
            [
                Statistic("historyValues", .int(count.load(ordering: .relaxed))),
                Statistic("historyValueBytes", .int(bytes.load(ordering: .relaxed))),
                Statistic("historyValuesLeftOut", .int(leftOut.load(ordering: .relaxed))),
            ]
        }
    }
}
