/// Gathers what a derivation reads, and refuses what cannot be followed when it changes.
///
/// One relationship away is as far as it goes: a change is then followed from the object that
/// changed to those that read it by one index.
struct DerivationSources {
    private let schema: Schema
    private let entity: Entity
    private let places: FormatPlaces
    /// The relationship that leads to the objects of each variable.
    private var variables: [String: Relationship] = [:]
    private(set) var sources: Set<Derivation.Source> = []
    private(set) var readsTime = false

    init(_ schema: Schema, _ entity: Entity, _ places: FormatPlaces) {
        self.schema = schema
        self.entity = entity
        self.places = places
    }

    /// Its recursion is bounded: the expression is within ``Limits``.
    mutating func add(_ expression: QueryExpression) throws(LarderError) {
        switch expression {
        case .constant, .object: return
        case .argument:
            throw refusal("a derivation takes no arguments", expression)
        case .variable(let name):
            guard variables[name] != nil else {
                throw refusal("there is no value for $\(name.prefix(32))", expression)
            }
        case .keyPath(let base, let names): try addPath(base, names, expression)
        case .subquery(let collection, let variable, let predicate):
            try add(collection)
            let relationship = try relationship(of: collection)
            let hidden = variables.updateValue(relationship, forKey: variable)
            try add(predicate)
            variables[variable] = hidden
        case .function(.now, _): readsTime = true
        case .function, .collection, .list, .comparison, .typeTest, .and, .or, .not:
            for child in expression.children { try add(child) }
        }
    }

    private mutating func addPath(
        _ base: QueryExpression, _ names: [String], _ path: QueryExpression
    ) throws(LarderError) {
        guard let name = names.first else { return }
        switch base {
        case .object:
            let property = try property(name, of: entity, path)
            sources.insert(.own(name))
            guard case .relationship(let relationship) = property, names.count > 1 else { return }
            try addAttribute(names[1], through: relationship, path)
        case .variable(let variable):
            guard let relationship = variables[variable] else {
                throw refusal("there is no value for $\(variable.prefix(32))", path)
            }
            try addAttribute(name, through: relationship, path)
        default:
            try add(base)
            try addAttribute(name, through: try relationship(of: base), path)
        }
    }

    private mutating func addAttribute(
        _ name: String, through relationship: Relationship, _ path: QueryExpression
    ) throws(LarderError) {
        guard let destination = schema.entity(named: relationship.destination) else { return }
        switch try property(name, of: destination, path) {
        case .attribute:
            sources.insert(.related(through: relationship.name, attribute: name))
        case .relationship:
            throw refusal(
                "\(relationship.name).\(name) is two relationships away, and the store follows "
                    + "changes along one", path)
        }
    }

    /// The relationship of the object itself that a collection is taken of.
    private func relationship(
        of collection: QueryExpression
    ) throws(LarderError) -> Relationship {
        switch collection {
        case .subquery(let inner, _, _): return try relationship(of: inner)
        case .keyPath(.object, let names) where names.count == 1:
            if case .relationship(let relationship) = entity.property(named: names[0]) {
                return relationship
            }
        default: break
        }
        throw refusal("a SUBQUERY here is over a relationship of \(entity.name)", collection)
    }

    private func property(
        _ name: String, of owner: Entity, _ path: QueryExpression
    ) throws(LarderError) -> Property {
        if let property = owner.property(named: name) { return property }
        throw refusal("\(owner.name) has no property \"\(name.prefix(32))\"", path)
    }

    private func refusal(_ message: String, _ expression: QueryExpression) -> LarderError {
        places.locating(LarderError(.malformedSchema, message), at: expression)
    }
}
