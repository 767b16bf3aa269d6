internal import CoreDataPredicates
internal import Foundation
internal import LarderModel
internal import LarderObjects
internal import LarderQuery

/// A request whose results are dictionaries: values of each object, or of groups of objects.
struct DictionaryFetch {
    /// A value of the result.
    private struct Column {
        let name: String
        let tree: QueryExpression
        /// The function of all objects of a group; nil for a value of one object.
        let aggregate: AggregateFunction?
        let resultType: NSAttributeType

        /// The values of an aggregate; nil for the objects themselves.
        var term: QueryTerm? { tree == .object ? nil : .tree(tree) }
    }

    private let context: NSManagedObjectContext
    private let entity: Entity
    private let store: any ObjectStore
    private let includesSubentities: Bool
    private let isDistinct: Bool
    private let sortDescriptors: [NSSortDescriptor]
    private var builder = TermBuilder()
    private let predicate: QueryExpression?
    private var columns: [Column] = []
    private var groups: [Column] = []
    private let having: NSPredicate?
    /// The expressions of the columns.
    private let expressions: [NSExpression]
    private var parameters = QueryParameters()

    /// - Throws: errors of the predicate, of the expressions and of the names.
    init<T>(_ request: NSFetchRequest<T>, in context: NSManagedObjectContext) throws(LarderError) {
        self.context = context
        let name = try request.requiredEntityName()
        entity = try context.objects.model.entity(named: name).entity
        store = try context.objects.model.store(of: name)
        includesSubentities = request.includesSubentities
        isDistinct = request.returnsDistinctResults
        sortDescriptors = request.sortDescriptors ?? []
        having = request.havingPredicate
        expressions = ((request.propertiesToFetch ?? []) + (request.propertiesToGroupBy ?? []))
            .compactMap { ($0 as? NSExpressionDescription)?.expression }
        predicate =
            if let predicate = request.predicate { try builder.tree(of: predicate) } else { nil }
        let all = entity.attributes.map(\.name)
        for property in request.propertiesToGroupBy ?? [] {
            groups.append(try column(property))
        }
        for property in request.propertiesToFetch ?? all {
            columns.append(try column(property))
        }
        parameters.limit = request.fetchLimit > 0 ? Int64(request.fetchLimit) : nil
        parameters.offset = request.fetchOffset > 0 ? Int64(request.fetchOffset) : nil
    }

    private mutating func column(_ property: Any) throws(LarderError) -> Column {
        if let description = property as? NSExpressionDescription {
            guard let expression = description.expression else {
                throw LarderError(
                    .malformedPredicate,
                    "the expression description `\(description.name)` has "
                        + "no expression")
            }
            let type = description.expressionResultType
            if let (function, operand) = try builder.aggregate(expression),
                operand == .object || !isToMany(operand)
            {
                return Column(
                    name: description.name, tree: operand, aggregate: function, resultType: type)
            }
            return Column(
                name: description.name, tree: try builder.tree(of: expression), aggregate: nil,
                resultType: type)
        }
        guard let name = (property as? NSPropertyDescription)?.name ?? property as? String else {
            throw LarderError(
                .unsupported,
                "a value of the type \(type(of: property)) is not a property to fetch",
                hint: "use names, or descriptions of properties or expressions")
        }
        return Column(
            name: name, tree: try PredicateFormat.path(name), aggregate: nil,
            resultType: .undefinedAttributeType)
    }

    /// Whether an expression is about many objects of each object.
    private func isToMany(_ tree: QueryExpression) -> Bool {
        guard case .keyPath(.object, let steps) = tree else { return tree.isSubquery }
        var entity: Entity? = entity
        for step in steps {
            guard case .relationship(let relationship)? = entity?.property(named: step) else {
                return false
            }
            if relationship.isToMany { return true }
            entity = store.schema.entity(named: relationship.destination)
        }
        return false
    }

    // MARK: - Rows

    func rows() throws(LarderError) -> [[String: Any]] {
        var fetch = self
        let isGrouped = !groups.isEmpty || columns.contains { $0.aggregate != nil }
        let query = isGrouped ? try fetch.aggregateQuery() : try fetch.valuesQuery()
        fetch.parameters.arguments = store.arguments(
            fetch.builder.arguments, of: predicate, entityName: entity.name)
        let rows = try locating { () throws(LarderError) in
            try store.batches(query, fetch.parameters)
        }.flatMap { $0.rows(store: store.identifier) }
        var results: [[String: Any]] = []
        results.reserveCapacity(rows.count)
        for row in rows {
            var result: [String: Any] = [:]
            for column in columns {
                guard let value = row[column.name] else { continue }
                result[column.name] = context.rowValue(value, column.resultType)
            }
            results.append(result)
        }
        return results
    }

    /// Runs the query, whose error gets the column in the format of the expression it is about.
    private func locating<Result>(
        _ body: () throws(LarderError) -> Result
    ) throws(LarderError) -> Result {
        do throws(LarderError) { return try body() } catch {
            let location = TermLocation(store.schema, entityName: entity.name)
            throw expressions.reduce(error) { location.locating($0, in: $1) }
        }
    }

    private mutating func valuesQuery() throws(LarderError) -> Query {
        guard having == nil else {
            throw LarderError(
                .unsupported, "havingPredicate needs propertiesToGroupBy",
                hint: "set the condition as the predicate of the request")
        }
        var sort: [SortKey] = []
        for descriptor in sortDescriptors { sort.append(try descriptor.sortKey) }
        let selected = columns.map { QueryColumn(.tree($0.tree), name: $0.name) }
        return .fetch(
            Fetch(
                entity.name, where: predicate.map { .tree($0) }, sort: sort,
                selection: .values(selected), isDistinct: isDistinct,
                includesSubentities: includesSubentities))
    }

    private mutating func aggregateQuery() throws(LarderError) -> Query {
        let names = Set(groups.map(\.name))
        for column in columns where column.aggregate == nil {
            guard names.contains(column.name) || groups.contains(where: { $0.tree == column.tree })
            else {
                throw LarderError(
                    .unsupported,
                    "`\(column.name)` is neither a property to group by nor an aggregate",
                    hint: "add it to propertiesToGroupBy")
            }
        }
        var keys: [QueryColumn] = []
        for group in groups {
            // A group may have another name in the result.
            let name = columns.first { $0.aggregate == nil && $0.tree == group.tree }?.name
            keys.append(QueryColumn(.tree(group.tree), name: name ?? group.name))
        }
        var aggregates = columns.compactMap { column in
            column.aggregate.map { Aggregate.Column($0, column.term, name: column.name) }
        }
        var condition: QueryExpression?
        if let having {
            let tree = try builder.tree(of: having)
            condition = columnNames(in: tree, keys, &aggregates)
        }
        var sort: [SortKey] = []
        for descriptor in sortDescriptors {
            var key = try descriptor.sortKey
            if case .tree(let tree) = key.term {
                key.term = .tree(columnNames(in: tree, keys, &aggregates))
            }
            sort.append(key)
        }
        return .aggregate(
            Aggregate(
                entity.name, where: predicate.map { .tree($0) }, groupBy: keys, aggregates,
                having: condition.map { .tree($0) }, sort: sort,
                includesSubentities: includesSubentities))
    }

    /// The tree with names of columns in place of variables, group keys and aggregates. An
    /// aggregate that is not fetched becomes another column.
    private func columnNames(
        in tree: QueryExpression, _ keys: [QueryColumn], _ aggregates: inout [Aggregate.Column]
    ) -> QueryExpression {
        if let key = keys.first(where: { $0.term == .tree(tree) }) {
            return .keyPath(.object, [key.name])
        }
        switch tree {
        case .variable(let name): return .keyPath(.object, [name])
        case .collection(let function, let operand) where operand == .object || !isToMany(operand):
            let term: QueryTerm? = operand == .object ? nil : .tree(operand)
            let known = aggregates.first { $0.function == function && $0.term == term }
            let name = known?.name ?? "column \(aggregates.count)"
            if known == nil { aggregates.append(Aggregate.Column(function, term, name: name)) }
            return .keyPath(.object, [name])
        default:
            return tree.mapChildren { columnNames(in: $0, keys, &aggregates) }
        }
    }
}

extension ObjectStore {
    /// The arguments of a query, in which an object that the store does not have, such as one that
    /// is not saved, matches nothing.
    func arguments(
        _ arguments: [QueryArgument], of predicate: QueryExpression?, entityName: String
    ) -> [QueryArgument] {
        var fetch = ObjectFetch(entityName)
        fetch.predicate = predicate
        fetch.arguments = arguments
        return fetch.arguments(in: self) { $0.store == identifier }
    }
}

extension NSManagedObjectContext {
    /// A value of a dictionary, with an identifier for an object.
    fileprivate func rowValue(_ value: Value, _ type: NSAttributeType) -> Any? {
        switch value {
        case .object(let identifier): objectID(of: identifier)
        case .objects(let identifiers): identifiers.map(objectID)
        default: (type.storeType.flatMap { value.converted(to: $0) } ?? value).anyValue
        }
    }
}
