internal import Foundation
internal import LarderModel
internal import LarderQuery
internal import LarderStore

/// A dictionary or a single value as an object of a schema that is made of it, so that a predicate
/// has the same meaning for it as for an object of a store.
///
/// A dictionary in a dictionary is the object of a to-one relationship, and a list of dictionaries
/// are the objects of a to-many relationship. A single value is the attribute `self` of an object.
struct PlainObject {
    private static let selfName = "self"
    private static let matcher = Store.makeMatcher()

    private let schema: Schema
    private let root: PersistentIdentifier
    private let values: [PersistentIdentifier: [String: Value]]
    private let isSingleValue: Bool

    /// - Throws: `wrongType` for a value that no store has.
    init(_ object: Any?, for term: BoundTerm) throws(LarderError) {
        var builder = Builder()
        if let dictionary = object as? [String: Any] {
            isSingleValue = false
            root = try builder.add(dictionary, entityName: "Object", depth: 0)
            // A name that a dictionary does not have is nil.
            builder.nilNames["Object", default: []].formUnion(term.expression.firstNames)
        } else {
            isSingleValue = true
            root = try builder.add(
                [Self.selfName: object ?? NSNull()], entityName: "Object", depth: 0)
        }
        values = builder.values
        schema = try builder.schema()
    }

    /// Where names and types of predicates are checked. For a single value, only those without
    /// `SELF` have a column.
    var location: TermLocation? { TermLocation(schema, entityName: "Object") }

    func satisfies(_ predicate: BoundTerm) throws(LarderError) -> Bool {
        try evaluator(predicate).predicate(tree(predicate)).holds(for: root, reading: reader)
    }

    func value(of expression: BoundTerm) throws(LarderError) -> Value {
        try evaluator(expression).expression(tree(expression)).value(for: root, reading: reader)
    }

    private func tree(_ term: BoundTerm) -> QueryExpression {
        isSingleValue ? Self.replacingObject(in: term.expression) : term.expression
    }

    private static func replacingObject(in tree: QueryExpression) -> QueryExpression {
        switch tree {
        case .object: .keyPath(.object, [selfName])
        case .keyPath(.object, let steps): .keyPath(.object, steps)
        default: tree.mapChildren(replacingObject)
        }
    }

    private func evaluator(_ term: BoundTerm) throws(LarderError) -> Evaluator {
        try Evaluator(
            schema: schema, entityName: "Object",
            parameters: QueryParameters(arguments: term.arguments), now: Date(),
            matcher: Self.matcher)
    }

    private var reader: Evaluator.Reader {
        { identifier, name in values[identifier].map { $0[name] ?? .null } }
    }
}

extension PlainObject {
    /// Collects the entities of a value.
    private struct Builder {
        var attributes: [String: [String: AttributeType]] = [:]
        var relationships: [String: [String: Relationship]] = [:]
        var values: [PersistentIdentifier: [String: Value]] = [:]
        /// The names of which some values are nil.
        var nilNames: [String: Set<String>] = [:]
        private var count = 0

        private static let depthMax = 8

        mutating func add(
            _ dictionary: [String: Any], entityName: String, depth: Int
        ) throws(LarderError) -> PersistentIdentifier {
            guard depth < Self.depthMax else {
                throw LarderError(
                    .resourceExhausted,
                    "a dictionary is nested more than \(Self.depthMax) levels deep")
            }
            count += 1
            let identifier = PersistentIdentifier(temporary: "\(count)", entityName: entityName)
            declare(entityName)
            var own: [String: Value] = [:]
            for (name, value) in dictionary {
                own[name] = try self.value(value, name, entityName, depth)
            }
            values[identifier] = own
            return identifier
        }

        private mutating func value(
            _ value: Any, _ name: String, _ entityName: String, _ depth: Int
        ) throws(LarderError) -> Value {
            let destination = "\(entityName)_\(name)"
            if let dictionary = value as? [String: Any] {
                relationships[entityName, default: [:]][name] = Relationship(
                    name: name, destination: destination)
                return .object(
                    try add(dictionary, entityName: destination, depth: depth + 1))
            }
            if let list = value as? [[String: Any]] {
                relationships[entityName, default: [:]][name] = Relationship(
                    name: name, destination: destination, isToMany: true, isOrdered: true)
                var members: [PersistentIdentifier] = []
                for member in list {
                    members.append(try add(member, entityName: destination, depth: depth + 1))
                }
                declare(destination)
                return .objects(members)
            }
            var stored = try Value(of: value)
            if case .float(let float) = stored { stored = .double(Double(float)) }
            if let type = stored.attributeType {
                let known = attributes[entityName]?[name]
                guard known == nil || known == type else {
                    throw LarderError(
                        .wrongType, "`\(name)` has values of several types",
                        hint: "give it the same type in each dictionary")
                }
                attributes[entityName, default: [:]][name] = type
            } else {
                nilNames[entityName, default: []].insert(name)
            }
            return stored
        }

        private mutating func declare(_ entityName: String) {
            if attributes[entityName] == nil { attributes[entityName] = [:] }
        }

        /// The types of the attributes of an entity. One of which all values are nil is a text.
        private func types(of entityName: String) -> [String: AttributeType] {
            var types = attributes[entityName] ?? [:]
            for name in nilNames[entityName] ?? []
            where types[name] == nil && relationships[entityName]?[name] == nil {
                types[name] = .string
            }
            return types
        }

        func schema() throws(LarderError) -> Schema {
            let entities = attributes.keys.sorted().map { name in
                Entity(
                    name: name,
                    attributes: types(of: name).sorted { $0.key < $1.key }.map {
                        Attribute(name: $0.key, type: $0.value, isOptional: true)
                    },
                    relationships: (relationships[name] ?? [:]).values.sorted {
                        $0.name < $1.name
                    })
            }
            do throws(SchemaError) {
                return try Schema(entities: entities)
            } catch {
                throw error.larderError
            }
        }
    }
}

extension QueryExpression {
    /// The first names of the key paths from the object.
    fileprivate var firstNames: Set<String> {
        switch self {
        case .keyPath(.object, let steps): Set(steps.prefix(1))
        case .subquery(let collection, _, _): collection.firstNames
        default: Set(children.flatMap(\.firstNames))
        }
    }
}
