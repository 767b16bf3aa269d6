import LarderModel

/// Checks uniqueness constraints at the end of a change set, and defers values that another object
/// still has.
///
/// Two objects may exchange unique values in one set. An object that takes the values of another is
/// recorded and checked at the end, when a later change may have given the other object new values
/// or deleted it. The object that takes the values last finds the other one, so that only one of
/// the two needs a record.
///
/// A combination of several properties may be stored twice until the end. A single attribute has a
/// UNIQUE index: its value is deferred, and its row holds nil until the end.
package struct UniquenessCheck {
    /// An object, and the index of one of its entity's constraints.
    private struct Candidate: Hashable, Comparable {
        let object: ObjectKey
        let constraint: Int

        static func < (left: Candidate, right: Candidate) -> Bool {
            (left.object, left.constraint) < (right.object, right.constraint)
        }
    }

    /// A value of a unique attribute that another object had when it was to be stored.
    private struct DeferredValue {
        let value: SQLValue
        let change: Int?
    }

    private struct ValueKey: Hashable {
        /// The entity that declares the constraint.
        let entity: Int
        let constraint: Int
        let value: SQLValue
    }

    /// Objects that took the values of another, and the change that did it.
    private var candidates: [Candidate: Int?] = [:]
    private var deferred: [Candidate: DeferredValue] = [:]
    /// The last object for which each value was deferred.
    private var objectsByValue: [ValueKey: ObjectKey] = [:]

    var recordCount: Int { candidates.count + deferred.count }
    package var hasCandidates: Bool { !candidates.isEmpty }

    // MARK: - While the set runs

    /// Records an object if another has the same combination of values now.
    package mutating func record(
        _ object: ObjectKey, in constraints: some Sequence<Int>, _ context: ChangeContext
    ) throws(SQLError) {
        for number in constraints {
            let constraint = context.schema.entities[object.entity].constraints[number]
            guard constraint.uniqueAttribute == nil,
                try context.integer(constraint.duplicate, object.key) != nil
            else { continue }
            candidates.updateValue(
                context.changeIndex, forKey: Candidate(object: object, constraint: number))
        }
    }

    /// The value to store for an attribute now: nil if another object has the value, which is then
    /// deferred.
    mutating func storableValue(
        _ value: SQLValue, of attribute: Int, of object: ObjectKey, _ context: ChangeContext
    ) throws(SQLError) -> SQLValue {
        var stored = value
        for (number, constraint) in context.schema.entities[object.entity].constraints.enumerated()
        where constraint.uniqueAttribute == attribute {
            let candidate = Candidate(object: object, constraint: number)
            deferred[candidate] = nil
            guard value != .null, let key = try context.key(constraint.match, [value]),
                key != object.key
            else { continue }
            deferred[candidate] = DeferredValue(value: value, change: context.changeIndex)
            let valueKey = ValueKey(
                entity: constraint.declarerNumber, constraint: number,
                value: constraint.compared(value))
            objectsByValue[valueKey] = object
            stored = .null
        }
        return stored
    }

    /// Stores the deferred values that no other object has any more, so that a predicate reads
    /// them.
    mutating func storeFreedValues(_ context: ChangeContext) throws(SQLError) {
        for (candidate, value) in deferred.sorted(by: { $0.key < $1.key }) {
            let entity = context.schema.entities[candidate.object.entity]
            let constraint = entity.constraints[candidate.constraint]
            guard try context.key(constraint.match, [value.value]) == nil else { continue }
            deferred[candidate] = nil
            try store(value, for: candidate, context)
        }
    }

    /// The value that is deferred for an attribute of an object, if any.
    func deferredValue(
        of attribute: Int, of object: ObjectKey, _ entity: StoredEntity
    ) -> SQLValue? {
        let number = entity.constraints.firstIndex { $0.uniqueAttribute == attribute }
        return number.flatMap { deferred[Candidate(object: object, constraint: $0)]?.value }
    }

    /// The object for which the value of a constraint is deferred, unless it is deleted.
    func object(
        withDeferred value: SQLValue, _ constraint: Int, of entity: StoredEntity,
        _ context: ChangeContext
    ) -> ObjectKey? {
        let number = constraint
        let constraint = entity.constraints[number]
        let compared = constraint.compared(value)
        let valueKey = ValueKey(
            entity: constraint.declarerNumber, constraint: number, value: compared)
        guard let object = objectsByValue[valueKey], !context.deleted.contains(object),
            let deferred = deferred[Candidate(object: object, constraint: number)]?.value,
            constraint.compared(deferred) == compared
        else { return nil }
        return object
    }

    // MARK: - At the end

    /// Stores the deferred values, and adds an error for each object that has the values of
    /// another.
    package mutating func check(_ context: ChangeContext) throws(SQLError) {
        if deferred.isEmpty, candidates.isEmpty { return }
        for (candidate, value) in deferred.sorted(by: { $0.key < $1.key })
        where !context.errors.isFull {
            try context.checkBudget()
            try store(value, for: candidate, context)
        }
        for (candidate, change) in candidates.sorted(by: { $0.key < $1.key })
        where !context.errors.isFull {
            try context.checkBudget()
            let entity = context.schema.entities[candidate.object.entity]
            let constraint = entity.constraints[candidate.constraint]
            guard let key = try context.integer(constraint.duplicate, candidate.object.key)
            else { continue }
            let other = try context.object(constraint.declarerNumber, key)
            // One error for each pair.
            let reverse = Candidate(object: other, constraint: candidate.constraint)
            if candidates[reverse] != nil, reverse < candidate { continue }
            context.add(try Self.error(constraint, entity, other, [], context), change: change)
        }
    }

    /// Stores a deferred value, unless its object is deleted or another object has the value.
    private mutating func store(
        _ value: DeferredValue, for candidate: Candidate, _ context: ChangeContext
    ) throws(SQLError) {
        let object = candidate.object
        let entity = context.schema.entities[object.entity]
        let constraint = entity.constraints[candidate.constraint]
        guard let attribute = constraint.uniqueAttribute, try context.version(of: object) != nil
        else { return }
        if let key = try context.key(constraint.match, [value.value]) {
            let other = try context.object(constraint.declarerNumber, key)
            let error = try Self.error(constraint, entity, other, [value.value], context)
            return context.add(error, change: value.change)
        }
        try context.session.run(
            entity.rows[[attribute]].update, [value.value, .integer(object.key)])
        // Combinations that include the value are complete only now.
        for number in entity.constraints(over: [attribute])
        where entity.constraints[number].uniqueAttribute == nil {
            let duplicate = entity.constraints[number].duplicate
            guard try context.integer(duplicate, object.key) != nil else { continue }
            candidates.updateValue(
                value.change, forKey: Candidate(object: object, constraint: number))
        }
    }

    /// - Parameter values: The values that were to be stored; empty if the error need not show
    ///   them.
    package static func error(
        _ constraint: StoredConstraint, _ entity: StoredEntity, _ existing: ObjectKey,
        _ values: [SQLValue], _ context: ChangeContext
    ) throws(SQLError) -> LarderError {
        let names = constraint.names.map { "\(entity.name).\($0)" }
        let isVisible = try context.isVisible(existing)
        var mustBe = "\(names.joined(separator: " and ")) must be unique"
        if constraint.isInsensitive {
            mustBe += " without regard to case and accents"
            if isVisible, let value = values.first?.shownText,
                let other = try context.value(constraint.values, existing.key)?.shownText
            {
                mustBe += " (\(value) is \(other))"
            }
        }
        var violation = ChangeViolation(
            .uniquenessViolated, mustBe, entityName: entity.name,
            propertyNames: constraint.names, rule: .unique)
        guard let uri = context.stableURI(of: existing) else {
            violation.message += ", and another object of the set has the same"
            return LarderError(violation)
        }
        guard isVisible else {
            violation.message += ", and an object that this user may not see has the same"
            return LarderError(violation, hint: "use other values")
        }
        violation.message += ", and \(uri) has the same"
        violation.uri = uri
        return LarderError(violation, hint: "use other values, or update that object")
    }
}

extension SQLValue {
    /// A text in quotation marks, shortened if it is long; nil for other values.
    fileprivate var shownText: String? {
        guard case .text(let text) = self else { return nil }
        let shown = text.prefix(Self.shownCharactersMax)
        return "\"\(shown)\(shown.endIndex == text.endIndex ? "" : "…")\""
    }

    private static let shownCharactersMax = 80
}
