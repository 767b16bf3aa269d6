/// An object of this store, by the index of its own entity in the schema and its key.
package struct ObjectKey: Hashable, Sendable, Comparable {
    let entity: Int
    let key: Int64

    package init(entity: Int, key: Int64) {
        self.entity = entity
        self.key = key
    }

    package static func < (left: ObjectKey, right: ObjectKey) -> Bool {
        (left.entity, left.key) < (right.entity, right.key)
    }
}
