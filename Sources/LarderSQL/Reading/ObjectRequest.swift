import LarderModel
import LarderQuery

// The identifiers of a read of objects.
extension [PersistentIdentifier] {
    /// Checks that they are not too many, and of the store of a converter.
    package func check(_ converter: ValueConverter) throws(LarderError) {
        guard count <= Limits.identifiersMax else {
            throw LarderError(
                .resourceExhausted, "\(Limits.identifiersMax) objects at most are read at once")
        }
        for identifier in self { try converter.conversion.checkStore(of: identifier) }
    }

    /// The identifiers grouped by entity, in the order in which the entities occur.
    package var groupedByEntity: [[PersistentIdentifier]] {
        var groups: [[PersistentIdentifier]] = []
        var indexes: [String: Int] = [:]
        for identifier in self {
            let index = indexes[identifier.entityName, default: groups.count]
            if index == groups.count {
                indexes[identifier.entityName] = index
                groups.append([])
            }
            groups[index].append(identifier)
        }
        return groups
    }
}
