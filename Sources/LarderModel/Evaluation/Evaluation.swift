import FoundationEssentials

/// The evaluation of one expression for one object.
struct Evaluation {
    let evaluator: Evaluator
    let reader: Evaluator.Reader
    /// The values of the expression's slots; slot 0 is the object itself.
    private var slots: [Value]

    init(
        _ evaluator: Evaluator, _ object: PersistentIdentifier, _ reader: @escaping Evaluator.Reader
    ) {
        self.evaluator = evaluator
        self.reader = reader
        slots = [.object(object)]
    }

    mutating func value(of expression: TypedExpression) throws(LarderError) -> Value {
        switch expression {
        case .value(let value): return value
        case .object(let slot): return slot < slots.count ? slots[slot] : .null
        case .step(let step, let base):
            return property(step, of: try value(of: base)).first ?? .null
        case .member(let path, let document, let kind):
            return Self.member(path, of: try value(of: document), kind)
        case .function(let function, let operands):
            var values: [Value] = []
            for operand in operands { values.append(try value(of: operand)) }
            return try function.value(of: values, now: evaluator.now)
        case .converted(let operand, let type):
            return Self.converted(try value(of: operand), to: type)
        case .aggregate(let function, let collection, let type):
            return try aggregate(function, try elements(of: collection), type)
        case .truth(let predicate): return .bool(try holds(predicate))
        }
    }

    mutating func elements(of collection: TypedCollection) throws(LarderError) -> [Value] {
        switch collection {
        case .single(let expression):
            let value = try value(of: expression)
            return value.isNull ? [] : [value]
        case .step(let step, let base):
            return try elements(of: base).flatMap { property(step, of: $0) }
        case .filtered(let base, let slot, let predicate):
            var kept: [Value] = []
            for element in try elements(of: base)
            where try holds(predicate, with: element, in: slot) {
                kept.append(element)
            }
            return kept
        case .existing(let base): return try elements(of: base).filter { !$0.isNull }
        case .member(let path, let base, let kind):
            return try elements(of: base).map { Self.member(path, of: $0, kind) }
        }
    }

    /// The value of a property: a single value that may be nil, or the elements of a to-many.
    private func property(_ step: PropertyStep, of owner: Value) -> [Value] {
        var value: Value?
        if case .object(let object) = owner {
            if case .cast(let entityNames) = step.kind {
                return [entityNames.contains(object.entityName) ? owner : .null]
            }
            value = reader(object, step.name)
        }
        switch step.kind {
        case .cast: return [.null]
        case .toMany:
            guard case .objects(let objects) = value else { return [] }
            return objects.map { .object($0) }
        case .toOne:
            guard case .object(let object) = value else { return [.null] }
            return [.object(object)]
        case .attribute(let type):
            guard let stored = value?.converted(to: type) else { return [.null] }
            if case .string(let text) = stored { return [.string(text.normalized)] }
            return [stored]
        }
    }

    private static func member(
        _ path: [String], of document: Value, _ kind: MemberKind
    ) -> Value {
        guard case .json(let text) = document, let member = JSONMember(of: text, at: path) else {
            return .null
        }
        switch kind {
        case .number: return member.number ?? .null
        case .attribute(let type): return member.value(as: type) ?? .null
        }
    }

    private static func converted(_ value: Value, to type: AttributeType) -> Value {
        switch (value, type) {
        case (.int(let integer), .double): .double(Double(integer))
        case (.int(let integer), .decimal): .decimal(Decimal(integer))
        case (.float(let float), .double): .double(Double(float))
        default: value
        }
    }

    mutating func holds(_ predicate: TypedPredicate) throws(LarderError) -> Bool {
        switch predicate {
        case .constant(let bool): return bool
        case .isTrue(let operand): return try value(of: operand) == .bool(true)
        case .comparison(let comparison):
            return try holds(
                try value(of: comparison.left), comparison.operator,
                try value(of: comparison.right), comparison.options)
        case .in(let element, let list, let options):
            let value = try value(of: element)
            for other in list
            where try holds(value, .equal, try self.value(of: other), options) {
                return true
            }
            return false
        case .inValues(let element, let list): return list.contains(try value(of: element))
        case .between(let middle, let lower, let upper, let options):
            let value = try value(of: middle)
            guard try holds(value, .greaterThanOrEqual, try self.value(of: lower), options) else {
                return false
            }
            return try holds(value, .lessThanOrEqual, try self.value(of: upper), options)
        case .isKind(let operand, let entityNames):
            guard case .object(let object) = try value(of: operand) else { return false }
            return entityNames.contains(object.entityName)
        case .and(let parts):
            for part in parts where try !holds(part) { return false }
            return true
        case .or(let parts):
            for part in parts where try holds(part) { return true }
            return false
        case .not(let part): return try !holds(part)
        case .any(let collection, let slot, let predicate):
            for element in try elements(of: collection)
            where try holds(predicate, with: element, in: slot) {
                return true
            }
            return false
        case .all(let collection, let slot, let predicate):
            for element in try elements(of: collection)
            where try !holds(predicate, with: element, in: slot) {
                return false
            }
            return true
        }
    }

    private mutating func holds(
        _ predicate: TypedPredicate, with element: Value, in slot: Int
    ) throws(LarderError) -> Bool {
        // A slot's index is the number of element predicates that enclose it.
        slots.removeLast(max(0, slots.count - slot))
        slots.append(element)
        return try holds(predicate)
    }
}
