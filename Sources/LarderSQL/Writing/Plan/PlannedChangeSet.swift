import LarderModel

/// A change set that is valid in itself, apart from errors of single values: everything it names is
/// in the schema, and its temporary identifiers have become keys.
package struct PlannedChangeSet: Sendable {
    var conditions: [PlannedCondition] = []
    /// nil for a change with an error.
    var changes: [PlannedChange?]
    /// The last key of each entity, the inserts of the set included.
    package var lastKeys: [Int64]
    var onUniqueConflict = UniqueConflictPolicy.error
    var mergePolicy = MergePolicy.error
    /// Errors of single values. A set with such errors is still run, to find other errors, and then
    /// rejected.
    package var errors = ChangeErrors()

    /// Whether the set has conditions or bulk changes.
    var runsQueries = false
    /// Whether a change has an expected version or base values.
    var hasExpectations = false
}
