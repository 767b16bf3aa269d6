import LarderModel

/// An object, and a constraint under which another has, or had, the same values.
struct Twin: Hashable, Sendable, Comparable {
    let object: ObjectKey
    /// Its place in ``StoredEntity/constraints``.
    let constraint: Int

    static func < (left: Twin, right: Twin) -> Bool {
        (left.object, left.constraint) < (right.object, right.constraint)
    }
}

/// A value of a single unique attribute that another object had when it was to be stored.
struct ValueAside: Sendable {
    /// Where a value is unique.
    struct Place: Hashable, Sendable {
        /// The one that declares the constraint.
        let entity: Int
        let constraint: Int
        let value: SQLBinding
    }

    let value: SQLBinding
    let change: Int?
}

// Whoever takes another's values is looked at again when the set is done: the other may give them
// up, or be deleted, by a later change. Of two objects that end with the same values, the one that
// took them last found the other, so nobody else needs a second look.
//
// A combination of values may be stored twice until then. A single attribute has a UNIQUE index:
// its value stands aside, and the row holds nil.
extension ChangeSetRun {
    /// Looks whether other objects have the combinations of values that an object has now.
    func noteUnique(
        _ object: ObjectKey, in constraints: some Sequence<Int>
    ) throws(SQLiteError) {
        for number in constraints {
            let constraint = schema.entities[object.entity].constraints[number]
            guard constraint.aside == nil, try integer(constraint.twin, object.key) != nil
            else { continue }
            suspects.updateValue(change, forKey: Twin(object: object, constraint: number))
        }
    }

    /// The value of an attribute as it can be stored now: nil for one that another object has.
    func standingAside(
        _ value: SQLBinding, _ attribute: Int, of object: ObjectKey
    ) throws(SQLiteError) -> SQLBinding {
        var stored = value
        for (number, constraint) in schema.entities[object.entity].constraints.enumerated()
        where constraint.aside == attribute {
            let twin = Twin(object: object, constraint: number)
            aside[twin] = nil
            guard value != .null, let key = try self.key(constraint.match, [value]),
                key != object.key
            else { continue }
            aside[twin] = ValueAside(value: value, change: change)
            let place = ValueAside.Place(
                entity: constraint.declarerNumber, constraint: number, value: value)
            asideByValue[place] = object
            stored = .null
        }
        return stored
    }

    /// Stores the values that stand aside of which nobody else has any more, so that a predicate
    /// sees them.
    func settleAside() throws(SQLiteError) {
        for (twin, waiting) in aside.sorted(by: { $0.key < $1.key }) {
            let constraint = schema.entities[twin.object.entity].constraints[twin.constraint]
            guard try key(constraint.match, [waiting.value]) == nil else { continue }
            aside[twin] = nil
            try store(waiting, for: twin)
        }
    }

    func checkUniqueness() throws(SQLiteError) {
        if aside.isEmpty, suspects.isEmpty { return }
        for (twin, waiting) in aside.sorted(by: { $0.key < $1.key }) where !faults.isFull {
            try checkTime()
            try store(waiting, for: twin)
        }
        for (suspect, change) in suspects.sorted(by: { $0.key < $1.key }) where !faults.isFull {
            try checkTime()
            let entity = schema.entities[suspect.object.entity]
            let constraint = entity.constraints[suspect.constraint]
            guard let key = try integer(constraint.twin, suspect.object.key) else { continue }
            let other = try object(constraint.declarerNumber, key)
            // One of a pair is enough.
            let mirror = Twin(object: other, constraint: suspect.constraint)
            if suspects[mirror] != nil, mirror < suspect { continue }
            faults.add(uniquenessError(constraint, entity, other), change: change)
        }
    }

    /// Stores a value that stood aside, unless its object is gone or another still has the value.
    private func store(_ waiting: ValueAside, for twin: Twin) throws(SQLiteError) {
        let entity = schema.entities[twin.object.entity]
        let constraint = entity.constraints[twin.constraint]
        guard let attribute = constraint.aside, try version(of: twin.object) != nil
        else { return }
        if let key = try key(constraint.match, [waiting.value]) {
            let other = try object(constraint.declarerNumber, key)
            let error = uniquenessError(constraint, entity, other)
            return faults.add(error, change: waiting.change)
        }
        try statements.statement(entity.rows[[attribute]].update).run([
            waiting.value, .integer(twin.object.key),
        ])
        // Combinations with the value are complete only now.
        for number in entity.constraints(over: [attribute])
        where entity.constraints[number].aside == nil {
            guard try integer(entity.constraints[number].twin, twin.object.key) != nil
            else { continue }
            suspects.updateValue(
                waiting.change, forKey: Twin(object: twin.object, constraint: number))
        }
    }

    /// The key in the first row of a statement with these bindings.
    func key(_ text: SQLText, _ bindings: [SQLBinding]) throws(SQLiteError) -> Int64? {
        let statement = try statements.statement(text)
        defer { statement.reset() }
        try statement.bind(bindings)
        return try statement.step() ? statement.int64(at: 0) : nil
    }

    func uniquenessError(
        _ constraint: StoredConstraint, _ entity: StoredEntity, _ existing: ObjectKey
    ) -> LarderError {
        let names = constraint.names.map { "\(entity.name).\($0)" }
        let mustBe = "\(names.joined(separator: " and ")) must be unique"
        var fault = ChangeFault(
            .uniquenessViolated, mustBe, entityName: entity.name,
            propertyNames: constraint.names, rule: .unique)
        // The key of an object that the set inserts will have named nothing once the set failed.
        guard !isInserted(existing) else {
            fault.message += ", and another object of the set has the same"
            return LarderError(fault)
        }
        let uri = uri(of: existing)
        fault.message += ", and \(uri) has the same"
        fault.uri = uri
        return LarderError(fault, hint: "update that object instead")
    }
}

// MARK: - Inserts that update

/// The objects that have an insert's unique values.
enum UniqueMatch {
    case none
    case one(ObjectKey)
    /// Several, or one that an insert cannot update.
    case several(LarderError)
}

extension ChangeSetRun {
    /// The object that an insert means, by the values that it has itself: a relationship counts
    /// where the insert names it, and not its object's list.
    func match(of insert: PlannedInsert) throws(SQLiteError) -> UniqueMatch {
        let entity = schema.entities[insert.object.entity]
        var found: (object: ObjectKey, names: [String])?
        for (number, constraint) in entity.constraints.enumerated() {
            guard let values = uniqueValues(of: insert, constraint),
                let key = try key(constraint.match, values)
                    ?? keyAside(number, of: entity, values)
            else { continue }
            let object = try object(constraint.declarerNumber, key)
            guard object.entity == insert.object.entity else {
                // What it is cannot change.
                return .several(uniquenessError(constraint, entity, object))
            }
            guard let first = found else {
                found = (object, constraint.names)
                continue
            }
            guard first.object == object else {
                return .several(ambiguity(entity, first, (object, constraint.names)))
            }
        }
        return found.map { .one($0.object) } ?? .none
    }

    /// The object for which a value stands aside, if nobody has it any more.
    private func keyAside(
        _ number: Int, of entity: StoredEntity, _ values: [SQLBinding]
    ) -> Int64? {
        guard let value = values.first else { return nil }
        let place = ValueAside.Place(
            entity: entity.constraints[number].declarerNumber, constraint: number, value: value)
        guard let object = asideByValue[place], !deleted.contains(object),
            aside[Twin(object: object, constraint: number)]?.value == value
        else { return nil }
        return object.key
    }

    /// nil where a value is nil, which is the same as no other, or not known yet.
    private func uniqueValues(
        of insert: PlannedInsert, _ constraint: StoredConstraint
    ) -> [SQLBinding]? {
        var values: [SQLBinding] = []
        for place in constraint.places {
            switch place {
            case .attribute(let number): values.append(insert.row[number])
            case .relationship(let number):
                guard
                    let assignment = insert.values.assignments.first(where: {
                        $0.relationship == number
                    }), let target = resolved(assignment).targets.first
                else { return nil }
                values.append(.integer(target.key))
            }
        }
        return values.contains(.null) ? nil : values
    }

    private func ambiguity(
        _ entity: StoredEntity, _ first: (object: ObjectKey, names: [String]),
        _ second: (object: ObjectKey, names: [String])
    ) -> LarderError {
        func named(_ match: (object: ObjectKey, names: [String])) -> String {
            let object = match.object
            let names = match.names.map { "\(entity.name).\($0)" }
            let whose = isInserted(object) ? "another object of the set" : uri(of: object)
            return "\(whose) by \(names.joined(separator: " and "))"
        }
        let object = first.object
        return LarderError(
            ChangeFault(
                .uniquenessViolated,
                "the insert means \(named(first)), and \(named(second))",
                entityName: entity.name, propertyNames: first.names + second.names,
                uri: isInserted(object) ? nil : uri(of: object), rule: .unique),
            hint: "an insert can update one object only")
    }

    /// The assignment with the objects that inserts turned out to mean.
    func resolved(_ assignment: Assignment) -> Assignment {
        guard !redirects.isEmpty else { return assignment }
        return Assignment(
            relationship: assignment.relationship, targets: resolved(assignment.targets))
    }

    func resolved(_ planned: [Assignment.Target]) -> [Assignment.Target] {
        var targets: [Assignment.Target] = []
        var known: Set<Int64> = []
        for target in planned {
            let target = resolved(target)
            // Two inserts may have become one object.
            if known.insert(target.key).inserted { targets.append(target) }
        }
        return targets
    }

    func resolved(_ target: Assignment.Target) -> Assignment.Target {
        redirects[target.object].map {
            Assignment.Target(object: $0, insertedBy: nil)
        } ?? target
    }
}
