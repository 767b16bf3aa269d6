package import LarderModel

/// What a save does if others have changed or inserted the same.
package struct ConflictPolicy: Sendable {
    /// How a property is merged that both have changed; nil if the last writer wins.
    package var merge: MergePolicy?
    /// What an insert does whose unique values an object has.
    package var unique: UniqueConflictPolicy

    package init(merge: MergePolicy?, unique: UniqueConflictPolicy) {
        self.merge = merge
        self.unique = unique
    }

    /// By property the last writer wins, and an insert updates the object with its unique values.
    package static let lastWriterWins = ConflictPolicy(merge: nil, unique: .upsert)
}
