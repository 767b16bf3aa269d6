public import FoundationEssentials

/// A new value for a property of each record that a bulk update selects.
///
///     try store.updateAll(Book.self, where: #Predicate { $0.pages == 0 }, .set(\.pages, to: 1))
public struct RecordAssignment<Record: EntityRecord>: Sendable {
    let assignment: @Sendable (inout [QueryArgument]) throws(LarderError) -> PropertyAssignment

    /// One value for every object.
    public static func set<Member: Sendable>(
        _ member: any KeyPath<Record, Member> & Sendable, to value: Member
    ) -> Self {
        Self { arguments throws(LarderError) in
            let (name, value) = try Record.assignment(member, value)
            return PropertyAssignment(name, to: value)
        }
    }

    /// The value of an expression, which is computed for each object as it was before the update.
    public static func set<Member: Sendable, Output>(
        _ member: any KeyPath<Record, Member> & Sendable,
        to expression: Expression<Record.Fields, Output>
    ) -> Self {
        Self { arguments throws(LarderError) in
            guard let name = Record.property(of: member)?.name else {
                throw Record.notStored(member)
            }
            return PropertyAssignment(
                name, try FieldExpression<Record>(expression).term(&arguments))
        }
    }
}

extension EntityRecord {
    /// The bulk update of all objects that satisfy a predicate.
    ///
    /// - Throws: `unsupportedPredicate`, `malformedValue`.
    static func updateAll(
        where predicate: Predicate<Fields>?, sort: [RecordSort<Self>], limit: Int?,
        _ assignments: [RecordAssignment<Self>]
    ) throws(LarderError) -> Change {
        var selection = try selection(predicate, sort: sort, limit: limit)
        var set: [PropertyAssignment] = []
        for assignment in assignments {
            set.append(try assignment.assignment(&selection.arguments))
        }
        return .updateAll(selection, set: set)
    }

    /// The objects that satisfy a predicate, or the first of them.
    static func selection(
        _ predicate: Predicate<Fields>?, sort: [RecordSort<Self>], limit: Int?
    ) throws(LarderError) -> ObjectSelection {
        var selection = ObjectSelection(entityName, limit: limit.map(Int64.init))
        if let predicate {
            let bound = try BoundExpression(predicate)
            selection.predicate = .tree(bound.expression)
            selection.arguments = bound.arguments
        }
        for sort in sort { selection.sort.append(try sort.key(&selection.arguments)) }
        return selection
    }
}
