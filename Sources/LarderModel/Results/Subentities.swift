/// The entities of objects in a list of keys, where some are of subentities of the list's entity.
public struct Subentities: Hashable, Sendable {
    /// The subentities that occur.
    public var names: [String]
    /// For each key, 0 for the entity of the list, or n for the nth name. Empty if all objects are
    /// of the entity of the list.
    public var indexes: [UInt32]

    @inlinable
    package init(names: [String] = [], indexes: [UInt32] = []) {
        self.names = names
        self.indexes = indexes
    }

    public var isEmpty: Bool { indexes.isEmpty }

    /// Returns the name of the actual entity of an object.
    ///
    /// - Parameters:
    ///   - index: The index of its key.
    ///   - entityName: The entity of the list.
    public func entityName(at index: Int, among entityName: String) -> String {
        guard index < indexes.count, indexes[index] > 0 else { return entityName }
        return names[Int(indexes[index]) - 1]
    }

    /// Appends the entity of the next key.
    ///
    /// - Parameters:
    ///   - name: The actual entity of the object; nil if there is no object.
    ///   - index: The index of the key.
    package mutating func append(_ name: String?, among entityName: String, at index: Int) {
        guard let name, name != entityName else {
            if !indexes.isEmpty { indexes.append(0) }
            return
        }
        if indexes.isEmpty { indexes = [UInt32](repeating: 0, count: index) }
        let known = names.firstIndex(of: name)
        if known == nil { names.append(name) }
        indexes.append(UInt32((known ?? names.count - 1) + 1))
    }

    /// The entities of a range of keys.
    func slice(_ range: Range<Int>) -> Subentities {
        guard !indexes.isEmpty else { return self }
        let part = indexes[range]
        return part.allSatisfy({ $0 == 0 })
            ? Subentities() : Subentities(names: names, indexes: Array(part))
    }

    /// The reason why this cannot be read for a list of keys; nil if it can.
    func problem(keyCount: Int) -> String? {
        guard !indexes.isEmpty else { return nil }
        guard indexes.count == keyCount else { return "must have one entity per key" }
        return indexes.allSatisfy { $0 <= names.count }
            ? nil : "refers to an entity that it does not name"
    }
}
