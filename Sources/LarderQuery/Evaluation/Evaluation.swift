import FoundationEssentials
import LarderModel

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

    mutating func value(of operand: BoundOperand) throws(LarderError) -> Value {
        switch operand {
        case .value(let value): return value
        case .slot(let slot): return slot < slots.count ? slots[slot] : .null
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
        case .aggregate(let function, let collection, let operand, let type):
            var values: [Value] = []
            try forEach(collection) { (evaluation) throws(LarderError) in
                values.append(try evaluation.value(of: operand))
                return true
            }
            return try aggregate(function, values, type)
        case .join(let collection, let text, let separator, let isOrdered):
            return try join(collection, text, separator, isOrdered: isOrdered)
        case .truth(let predicate): return .bool(try holds(predicate))
        }
    }

    private mutating func join(
        _ collection: BoundCollection, _ text: BoundOperand, _ separator: BoundOperand,
        isOrdered: Bool
    ) throws(LarderError) -> Value {
        guard case .string(let separator) = try value(of: separator) else { return .null }
        var texts = JoinedTexts()
        var index: Int64 = 0
        try forEach(collection) { (evaluation) throws(LarderError) in
            if case .string(let text) = try evaluation.value(of: text) {
                texts.add(text, at: isOrdered ? JoinedTexts.Position(index) : nil)
            }
            index += 1
            return true
        }
        return try texts.text(separatedBy: separator, .never).map { .string($0) } ?? .null
    }

    /// Puts each element of a collection into its slot and calls the body, until it returns false.
    private mutating func forEach(
        _ collection: BoundCollection,
        _ body: (inout Evaluation) throws(LarderError) -> Bool
    ) throws(LarderError) {
        _ = try forEach(collection.parts[...], body)
    }

    /// - Returns: false if the body has returned false.
    private mutating func forEach(
        _ parts: ArraySlice<BoundCollection.Part>,
        _ body: (inout Evaluation) throws(LarderError) -> Bool
    ) throws(LarderError) -> Bool {
        guard let part = parts.first else { return try body(&self) }
        var elements = [try value(of: part.base)].filter { !$0.isNull }
        for step in part.steps { elements = elements.flatMap { property(step, of: $0) } }
        if let array = part.array { elements = elements.flatMap { Self.array(array, in: $0) } }
        for element in elements where !(part.excludesNil && element.isNull) {
            set(element, in: part.slot)
            guard try holds(part.predicates) else { continue }
            guard try forEach(parts.dropFirst(), body) else { return false }
        }
        return true
    }

    private mutating func holds(_ predicates: [BoundPredicate]) throws(LarderError) -> Bool {
        for predicate in predicates where try !holds(predicate) { return false }
        return true
    }

    private mutating func set(_ element: Value, in slot: Int) {
        while slots.count <= slot { slots.append(.null) }
        slots[slot] = element
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
        case .json, .like: return .json(member.text)
        case .jsonOf(let kind): return member.kind == kind ? .json(member.text) : .null
        case .attribute(let type): return member.value(as: type) ?? .null
        }
    }

    /// The elements of an array in a document.
    private static func array(_ path: [String], in document: Value) -> [Value] {
        guard case .json(let text) = document, let array = JSONMember(of: text, at: path) else {
            return []
        }
        return JSONMember.elements(of: array.text).map { .json($0) }
    }

    private static func converted(_ value: Value, to type: AttributeType) -> Value {
        switch (value, type) {
        case (.int(let integer), .double): .double(Double(integer))
        case (.int(let integer), .decimal): .decimal(Decimal(integer))
        case (.float(let float), .double): .double(Double(float))
        case (_, .json): value.comparedJSON ?? .null
        default: value
        }
    }

    mutating func holds(_ predicate: BoundPredicate) throws(LarderError) -> Bool {
        switch predicate {
        case .constant(let bool): return bool
        case .isTrue(let operand): return try value(of: operand) == .bool(true)
        case .comparison(let left, let comparison, let right, let options):
            return try holds(try value(of: left), comparison, try value(of: right), options)
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
        case .and(let parts): return try holds(parts)
        case .or(let parts):
            for part in parts where try holds(part) { return true }
            return false
        case .not(let part): return try !holds(part)
        case .exists(let collection, let test):
            var isFound = false
            try forEach(collection) { (evaluation) throws(LarderError) in
                isFound = try evaluation.holds(test)
                return !isFound
            }
            return isFound
        }
    }
}
