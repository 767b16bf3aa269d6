/// Of which entities the objects of some keys are, where an entity is named for all of them and
/// some are of entities below it.
public struct Subentities: Hashable, Sendable {
    /// The entities below that occur.
    public var names: [String]
    /// For each key 0 for the entity that is named for all, or n for the nth of the names. Empty
    /// where all objects are of that one.
    public var indexes: [UInt32]

    @inlinable
    public init(names: [String] = [], indexes: [UInt32] = []) {
        self.names = names
        self.indexes = indexes
    }

    public var isEmpty: Bool { indexes.isEmpty }

    /// The name of an object's own entity.
    ///
    /// - Parameters:
    ///   - place: of its key, from 0.
    ///   - entityName: what is named for all.
    public func entityName(at place: Int, among entityName: String) -> String {
        guard place < indexes.count, indexes[place] > 0 else { return entityName }
        return names[Int(indexes[place]) - 1]
    }

    /// Notes the entity of the next key.
    ///
    /// - Parameters:
    ///   - name: of the object's own entity; nil where there is no object.
    ///   - place: how many keys stand before it.
    public mutating func append(_ name: String?, among entityName: String, at place: Int) {
        guard let name, name != entityName else {
            if !indexes.isEmpty { indexes.append(0) }
            return
        }
        if indexes.isEmpty { indexes = [UInt32](repeating: 0, count: place) }
        let known = names.firstIndex(of: name)
        if known == nil { names.append(name) }
        indexes.append(UInt32((known ?? names.count - 1) + 1))
    }

    /// What belongs to some of the keys.
    func part(_ places: Range<Int>) -> Subentities {
        guard !indexes.isEmpty else { return self }
        let part = indexes[places]
        return part.allSatisfy({ $0 == 0 })
            ? Subentities() : Subentities(names: names, indexes: Array(part))
    }

    /// What keeps this from being read beside so many keys, nil if nothing does.
    func fault(keyCount: Int) -> String? {
        guard !indexes.isEmpty else { return nil }
        guard indexes.count == keyCount else { return "has not one entity a key" }
        return indexes.allSatisfy { $0 <= names.count }
            ? nil : "has an entity that is not named"
    }
}
