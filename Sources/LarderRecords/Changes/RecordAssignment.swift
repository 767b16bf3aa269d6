public import FoundationEssentials

/// A new value for a property of each record that a bulk update selects.
///
///     try store.updateAll(Book.self, where: #Predicate { $0.pages == 0 }, .set(\.pages, to: 1))
public struct RecordAssignment<Record: EntityRecord>: Sendable {
    let assignment: @Sendable (inout [QueryArgument]) throws(LarderError) -> PropertyAssignment

    /// The same value for every object.
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
        where predicate: Predicate<Fields>?, _ assignments: [RecordAssignment<Self>]
    ) throws(LarderError) -> Change {
        var selection = try selection(predicate)
        var set: [PropertyAssignment] = []
        for assignment in assignments {
            set.append(try assignment.assignment(&selection.arguments))
        }
        return .updateAll(selection, set: set)
    }

    /// The objects that satisfy a predicate.
    static func selection(
        _ predicate: Predicate<Fields>?
    ) throws(LarderError) -> ObjectSelection {
        guard let predicate else { return ObjectSelection(entityName) }
        let bound = try BoundExpression(predicate)
        return ObjectSelection(
            entityName, where: .tree(bound.expression), arguments: bound.arguments)
    }
}
