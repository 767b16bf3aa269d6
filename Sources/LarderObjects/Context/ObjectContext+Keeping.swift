// An object that is read along a relationship often has no instance any more when the reader has
// finished, but is needed again: a prefetch has read it, or its properties are observed, and its
// observers are those of the object. So the context keeps it while an object that has an instance
// leads to it, and the last thousands in any case.

internal import LarderModel

extension ObjectContext {
    /// How many objects are kept although no other one leads to them.
    private static let recentMax = 4_096

    /// Keeps objects that were read along a relationship.
    func keep(_ objects: [StoredObject]) {
        for object in objects where !object.isKept {
            object.isKept = true
            kept.append(object)
        }
    }

    /// Keeps no more objects than needed. Called when as many objects were read as there are.
    func releaseKept() {
        guard kept.count > Self.recentMax else { return }
        sweepCount += 1
        markReachable()
        let old = kept.dropLast(Self.recentMax)
        let recent = kept.suffix(Self.recentMax)
        for object in old where object.reachedBy != sweepCount { object.isKept = false }
        kept = old.filter(\.isKept) + recent
    }

    /// Marks the kept objects to which the known relationships of an object with an instance lead.
    private func markReachable() {
        var open = registered.filter { $0.owner != nil }
        func mark(_ identifier: PersistentIdentifier) {
            guard let target = registeredObject(for: identifier), target.isKept,
                target.reachedBy != sweepCount
            else { return }
            target.reachedBy = sweepCount
            open.append(target)
        }
        while let object = open.popLast() {
            for property in object.entity?.relationships ?? [] {
                switch object[property.slot] {
                case .object(let identifier)?: mark(identifier)
                case .objects(let identifiers)?: identifiers.forEach(mark)
                default: break
                }
            }
        }
    }
}
