/// One relationship of one object.
struct ObjectRelationship: Hashable, Sendable, Comparable {
    let object: ObjectKey
    let relationship: Int

    static func < (left: ObjectRelationship, right: ObjectRelationship) -> Bool {
        (left.object, left.relationship) < (right.object, right.relationship)
    }
}
