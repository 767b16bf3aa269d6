/// One kind of change of objects of one entity with consecutive keys.
package struct ChangeRun: Hashable {
    /// The raw values are stored in the history.
    package enum Kind: Int64 {
        case inserted = 1
        case updated = 2
        case deleted = 3
    }

    package let kind: Kind
    package let entity: Int
    package let first: Int64
    package var last: Int64
    /// In the order in which the set first changed each property.
    package let properties: [StoredEntity.Property]

    /// The names of the properties, sorted and separated by commas, which no name contains.
    package func propertyNames(_ schema: WritingSchema) -> String {
        properties.map { property in
            switch property {
            case .attribute(let number):
                schema.entities[entity].attributes[number].attribute.name
            case .relationship(let number): schema.relationships[number].relationship.name
            }
        }.sorted().joined(separator: ",")
    }
}

/// A list of runs. A change that continues the last run extends it.
struct ChangeRuns {
    private(set) var runs: [ChangeRun] = []

    /// Appends runs of which none continues the last run.
    mutating func append(_ others: [ChangeRun]) { runs += others }

    mutating func append(
        _ kind: ChangeRun.Kind, _ entity: Int, _ keys: ClosedRange<Int64>,
        _ properties: [StoredEntity.Property]
    ) {
        if let end = runs.indices.last, runs[end].kind == kind, runs[end].entity == entity,
            runs[end].last + 1 == keys.lowerBound, runs[end].properties == properties
        {
            runs[end].last = keys.upperBound
            return
        }
        runs.append(
            ChangeRun(
                kind: kind, entity: entity, first: keys.lowerBound, last: keys.upperBound,
                properties: properties))
    }
}
