import LarderModel

/// The changes that undo others, made of the values that the history has, and what prevents them.
struct Reversal {
    /// A line of the report: what is done to a property of an object.
    struct Line {
        let change: HistoryRun.Kind
        let identifier: PersistentIdentifier
        /// nil for the object as a whole.
        let property: String?
        let from: Value
        let to: Value
    }

    let schema: Schema
    private(set) var changes: [Change] = []
    private(set) var lines: [Line] = []
    /// Sentences.
    private(set) var conflicts: [String] = []
    /// The objects that are inserted again, by their former identifiers.
    private var restored: [PersistentIdentifier: PersistentIdentifier] = [:]

    init(_ schema: Schema) { self.schema = schema }

    mutating func addConflict(_ identifier: PersistentIdentifier, _ sentence: String) {
        conflicts.append("\(identifier.shortText)\(sentence)")
    }

    /// The former and the temporary identifiers of objects that are inserted again. They must be
    /// known before values refer to them.
    mutating func willRestore(_ identifiers: some Sequence<PersistentIdentifier>) {
        for identifier in identifiers {
            restored[identifier] = PersistentIdentifier(
                temporary: identifier.shortText, entityName: identifier.entityName)
        }
    }

    // MARK: Changes

    mutating func delete(_ object: Record) {
        changes.append(.delete(object.identifier, ifVersion: object.version))
        lines.append(
            Line(
                change: .deleted, identifier: object.identifier, property: nil, from: .null,
                to: .null))
    }

    /// Sets properties of an object to former values.
    mutating func update(_ object: Record, to values: [String: Value]) {
        let changed = values.filter { object.values[$0.key] != $0.value }
        guard !changed.isEmpty else { return }
        changes.append(
            .update(
                object.identifier, ifVersion: object.version, values: changed.mapValues(replaced)))
        for (name, value) in changed.sorted(by: { $0.key < $1.key }) {
            lines.append(
                Line(
                    change: .updated, identifier: object.identifier, property: name,
                    from: object.values[name] ?? .null, to: value))
        }
    }

    /// Inserts a deleted object again, with another identifier.
    mutating func insert(_ identifier: PersistentIdentifier, _ values: [String: Value]) {
        guard let entity = schema.entity(named: identifier.entityName) else {
            return addConflict(identifier, ": its entity is not in the schema any more")
        }
        for name in entity.requiredNames where values[name] ?? .null == .null {
            addConflict(identifier, ".\(name): the history does not have its value")
        }
        let given = values.filter { $0.value != .null }
        changes.append(
            .insert(
                restored[identifier]
                    ?? PersistentIdentifier(
                        temporary: identifier.shortText, entityName: identifier.entityName),
                values: given.mapValues(replaced)))
        lines.append(
            Line(change: .inserted, identifier: identifier, property: nil, from: .null, to: .null))
        for (name, value) in given.sorted(by: { $0.key < $1.key }) {
            lines.append(
                Line(
                    change: .inserted, identifier: identifier, property: name, from: .null,
                    to: value))
        }
    }

    /// A reference to an object that is inserted again refers to the new one.
    private func replaced(_ value: Value) -> Value {
        value.mappingObject { restored[$0] ?? $0 }
    }

    /// A function from the former identifiers of inserted objects to the new ones, and from any
    /// other to itself.
    ///
    /// - Parameter inserted: The result of saving ``changes``; empty before.
    func newIdentifiers(
        _ inserted: [PersistentIdentifier]
    ) -> (PersistentIdentifier) -> PersistentIdentifier {
        let former = lines.filter { $0.change == .inserted && $0.property == nil }
        let new = Dictionary(
            zip(former.lazy.map(\.identifier), inserted), uniquingKeysWith: { first, _ in first })
        return { new[$0] ?? $0 }
    }

    // MARK: Properties

    /// How the value of a property is restored.
    enum PropertyKind {
        /// The history has it.
        case recorded
        /// It follows from others.
        case computed
        /// The history has no values of it.
        case notRecorded
        /// A migration has removed it.
        case missing
    }

    func kind(of name: String, in entityName: String) -> PropertyKind {
        switch schema.entity(named: entityName)?.property(named: name) {
        case nil: return .missing
        case .attribute(let attribute)?: return attribute.isDerived ? .computed : .recorded
        case .relationship(let relationship)?:
            guard relationship.isToMany else { return .recorded }
            let destination = schema.entity(named: relationship.destination)
            guard let inverse = relationship.inverse,
                case .relationship(let other)? = destination?.property(named: inverse),
                !other.isToMany, destination?.recordsValues ?? false
            else { return .notRecorded }
            return .computed
        }
    }
}

extension Entity {
    /// The properties that an insert must set.
    fileprivate var requiredNames: [String] {
        attributes.filter { !$0.isOptional && $0.defaultValue == nil && !$0.isDerived }.map(\.name)
            + relationships.filter { !$0.isToMany && !$0.isOptional }.map(\.name)
    }
}

extension Value {
    /// The value with another identifier, if it is an object.
    func mappingObject(_ change: (PersistentIdentifier) -> PersistentIdentifier) -> Value {
        guard case .object(let identifier) = self else { return self }
        return .object(change(identifier))
    }
}
