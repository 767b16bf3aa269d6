import LarderModel

/// The dependencies of a query: which changes of which objects can change its result, and for which
/// of its own objects.
package struct QueryDependencies: Hashable, Sendable {
    /// Objects that the query reads, and the way to them from its own objects.
    package struct Path: Hashable, Sendable {
        /// The relationships from the query's entity; none for its own objects.
        package let relationships: [String]
        /// Whether one of them is to-many.
        package let isToMany: Bool
        /// The entity of the objects at the end.
        package let entityName: String
        /// The properties of these objects that the query reads.
        package fileprivate(set) var properties: Set<String> = []
    }

    /// The query's own objects are the first.
    package private(set) var paths: [Path]
    /// Whether the result depends on the time, which no change announces.
    package private(set) var dependsOnTime = false
    /// Entities any change of whose objects may change the result.
    private var allChanges: Set<String> = []
    private let schema: Schema

    init(of entity: Entity, in schema: Schema) {
        self.schema = schema
        paths = [Path(relationships: [], isToMany: false, entityName: entity.name)]
    }

    /// The names of all entities whose objects the query reads.
    package var entityNames: Set<String> { Set(paths.map(\.entityName)).union(allChanges) }

    /// Whether a run of changes may change the result through any of its objects.
    package func concernsAll(_ run: HistoryRun) -> Bool {
        allChanges.contains { schema.areRelated(run.entityName, $0) }
    }

    /// Whether a run of changes may change the result through the objects of a path.
    package func concerns(_ run: HistoryRun, _ path: Path) -> Bool {
        guard schema.areRelated(run.entityName, path.entityName) else { return false }
        // Another object that is inserted or deleted changes the objects that refer to it, too, and
        // the history has these changes; with the delete rule noAction it does not.
        return run.kind != .updated || run.properties.contains(where: path.properties.contains)
    }

    /// Whether a run of changes may change which of the query's own objects the result has, or the
    /// values of one.
    package func concernsOwnObjects(_ run: HistoryRun) -> Bool {
        schema.areRelated(run.entityName, paths[0].entityName)
    }

    // MARK: - Reading expressions

    mutating func add(allChangesOf entityNames: Set<String>) { allChanges.formUnion(entityNames) }

    /// Adds what an expression reads. Names that the schema does not have are ignored.
    mutating func add(_ expression: QueryExpression, variables: [String: Int] = [:]) {
        _ = add(expression, variables)
    }

    /// - Parameter variables: The path of the objects of each variable that a SUBQUERY declares.
    /// - Returns: the path of the objects that the expression denotes; nil if it denotes values.
    private mutating func add(
        _ expression: QueryExpression, _ variables: [String: Int]
    ) -> Int? {
        switch expression {
        case .object: return 0
        case .variable(let name): return variables[name]
        case .keyPath(let base, let names):
            guard let start = add(base, variables) else { return nil }
            return add(names, from: start)
        case .subquery(let collection, let variable, let predicate):
            let elements = add(collection, variables)
            var inner = variables
            inner[variable] = elements
            _ = add(predicate, inner)
            return elements
        case .typeTest(let operand, _): _ = add(operand, variables)
        case .function(.now, _): dependsOnTime = true
        default: for child in expression.children { _ = add(child, variables) }
        }
        return nil
    }

    /// - Returns: the path to the objects at the end of a key path; nil for an attribute.
    private mutating func add(_ names: [String], from start: Int) -> Int? {
        var index = start
        var entityName = paths[index].entityName
        for name in names {
            guard let entity = schema.entity(named: entityName) else { return nil }
            if let cast = schema.castDestination(named: name, of: entity) {
                entityName = cast.name
                continue
            }
            guard let property = entity.property(named: name) else { return nil }
            paths[index].properties.insert(name)
            guard case .relationship(let relationship) = property else { return nil }
            index = path(along: relationship, from: index)
            entityName = relationship.destination
        }
        return index
    }

    private mutating func path(along relationship: Relationship, from start: Int) -> Int {
        let names = paths[start].relationships + [relationship.name]
        if let known = paths.firstIndex(where: { $0.relationships == names }) { return known }
        paths.append(
            Path(
                relationships: names,
                isToMany: paths[start].isToMany || relationship.isToMany,
                entityName: relationship.destination))
        return paths.count - 1
    }
}
