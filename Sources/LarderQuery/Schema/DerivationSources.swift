import LarderModel

/// Collects the properties that a derivation reads, and rejects those whose changes the store
/// cannot track.
///
/// A derivation may read one relationship away. A change of an object then leads to the objects
/// that read it through a single index.
struct DerivationSources {
    private let schema: Schema
    private let entity: Entity
    private let sourceMaps: [FormatSourceMap]
    /// The relationship over which each variable ranges.
    private var variables: [String: Relationship] = [:]
    private(set) var sources: Set<Derivation.Source> = []
    private(set) var readsTime = false

    init(_ schema: Schema, _ entity: Entity, _ sourceMaps: [FormatSourceMap]) {
        self.schema = schema
        self.entity = entity
        self.sourceMaps = sourceMaps
    }

    /// Collects the sources of an expression. The recursion is bounded, since the expression is
    /// within ``Limits``.
    mutating func add(_ expression: QueryExpression) throws(LarderError) {
        switch expression {
        case .constant, .object: return
        case .argument:
            throw rejection("a derivation cannot have arguments", expression)
        case .variable(let name):
            guard variables[name] != nil else {
                throw rejection("unknown variable $\(name.prefix(32))", expression)
            }
        case .keyPath(let base, let names): try addPath(base, names, expression)
        case .subquery(let collection, let variable, let predicate):
            try add(collection)
            let relationship = try relationship(of: collection)
            let hidden = variables.updateValue(relationship, forKey: variable)
            try add(predicate)
            variables[variable] = hidden
        case .function(.now, _): readsTime = true
        case .function(let function, let operands)
        where operands.indices.contains(where: {
            function.checkedOperand(at: $0, of: operands.count) == .zone
        }):
            throw rejection(
                "a derivation is computed in UTC, because the rules of time zones change",
                expression)
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
                throw rejection("unknown variable $\(variable.prefix(32))", path)
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
            throw rejection(
                "\(relationship.name).\(name) is two relationships away; a derivation can read "
                    + "objects one relationship away", path)
        }
    }

    /// The relationship of the object itself over which a collection ranges.
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
        throw rejection(
            "a SUBQUERY in a derivation must range over a relationship of \(entity.name)",
            collection)
    }

    private func property(
        _ name: String, of owner: Entity, _ path: QueryExpression
    ) throws(LarderError) -> Property {
        if let property = owner.property(named: name) { return property }
        throw rejection("\(owner.name) has no property \"\(name.prefix(32))\"", path)
    }

    private func rejection(_ message: String, _ expression: QueryExpression) -> LarderError {
        sourceMaps.reduce(LarderError(.malformedSchema, message)) {
            $1.locating($0, at: expression)
        }
    }
}
