import LarderModel
import LarderSQL

/// Finds the objects that the new schema does not permit: what the old one permitted and the new
/// one does not.
struct MigrationChecks {
    private let plan: MigrationPlan
    private let connection: Connection
    private let values: ValueCheck
    private let faults: MigrationFaults

    init(
        _ plan: MigrationPlan, _ connection: Connection, _ values: ValueCheck,
        _ faults: MigrationFaults
    ) {
        self.plan = plan
        self.connection = connection
        self.values = values
        self.faults = faults
    }

    private var schema: Schema { plan.mapping.new }

    func run() throws {
        for entity in schema.entities {
            guard let origin = plan.mapping.origin(of: entity) else { continue }
            if entity.isAbstract, !origin.isAbstract { try checkAbstract(entity) }
            for attribute in entity.attributes { try check(attribute, of: entity) }
            for relationship in entity.relationships { try check(relationship, of: entity) }
            for constraint in entity.uniquenessConstraints {
                try checkUniqueness(constraint, of: entity, origin)
            }
        }
    }

    private func checkAbstract(_ entity: Entity) throws {
        let rows = try connection.prepare("SELECT \(key) FROM \(rows(of: entity))")
        while try rows.step() {
            faults.report(
                entity.name, key: rows.int64(at: 0),
                "\(entity.name) becomes abstract and has objects of its own")
        }
    }

    // MARK: Attributes

    /// Values that were converted have been checked, and derived values are computed.
    private func check(_ attribute: Attribute, of entity: Entity) throws {
        guard !attribute.isDerived,
            case .attribute(let former)? = plan.mapping.origin(of: attribute.name, in: entity),
            former.type.isStored(as: attribute.type), isStricter(attribute, than: former),
            !isConverted(attribute, of: entity)
        else { return }
        let stored = try StoredAttribute(
            attribute, of: entity, column: plan.new.column(for: attribute, of: entity))
        let rows = try connection.prepare(
            "SELECT \(key), \(name: stored.column) FROM \(self.rows(of: entity))")
        while try rows.step() {
            // A value that was nil and required is a value of the default type.
            guard let value = rows.value(at: 1).value(of: attribute.type) else {
                faults.report(
                    entity.name, key: rows.int64(at: 0),
                    "the value of \(stored.qualifiedName) is not \(attribute.type.nounWithArticle)")
                continue
            }
            do throws(LarderError) {
                _ = try values.stored(value, stored)
            } catch {
                faults.report(entity.name, key: rows.int64(at: 0), error.message)
            }
        }
    }

    private func isStricter(_ attribute: Attribute, than former: Attribute) -> Bool {
        attribute.type != former.type || (former.isOptional && !attribute.isOptional)
            || attribute.validation != former.validation || former.isDerived
    }

    private func isConverted(_ attribute: Attribute, of entity: Entity) -> Bool {
        plan.conversions.contains {
            $0.attribute.entityName == entity.name && $0.attribute.attribute == attribute
        }
    }

    // MARK: Relationships

    private func check(_ relationship: Relationship, of entity: Entity) throws {
        let former: Relationship? =
            if case .relationship(let former)? =
                plan.mapping.origin(of: relationship.name, in: entity)
            {
                former
            } else { nil }
        if let former, former.isOptional == relationship.isOptional,
            former.isToMany == relationship.isToMany, former.minCount == relationship.minCount,
            former.maxCount == relationship.maxCount, plan.removedKinds.isEmpty
        {
            return
        }
        // A to-one whose key is in the destination's row may have had several objects.
        let minimum =
            relationship.isToMany && relationship.isOptional
            ? relationship.minCount
            : relationship.isOptional ? 0 : max(1, relationship.minCount)
        let maximum = relationship.isToMany ? relationship.maxCount : 1
        let count = count(of: relationship, entity)
        let isTooMany: SQL = maximum > 0 ? " OR link_count > \(maximum)" : ""
        let isEmptyAllowed: SQL = relationship.isOptional ? "link_count > 0 AND " : ""
        guard minimum > 0 || maximum > 0 else { return }
        let rows = try connection.prepare(
            """
            SELECT \(key), link_count FROM (SELECT \(key), (\(count)) AS link_count \
            FROM (SELECT * FROM \(self.rows(of: entity))) AS o) \
            WHERE \(isEmptyAllowed)(link_count < \(minimum)\(isTooMany))
            """)
        while try rows.step() {
            let message = message(relationship, rows.int64(at: 1), minimum, maximum)
            faults.report(
                entity.name, key: rows.int64(at: 0),
                "\(entity.name).\(relationship.name) \(message)")
        }
    }

    private func message(
        _ relationship: Relationship, _ count: Int64, _ minimum: Int, _ maximum: Int
    ) -> String {
        guard relationship.isToMany else {
            return count == 0 ? "is required" : "takes one object, and there are \(count)"
        }
        return count < minimum
            ? "needs at least \(minimum) objects, and there are \(count)"
            : "takes at most \(maximum) objects, and there are \(count)"
    }

    /// Counts the objects of a relationship of the row `o`.
    private func count(of relationship: Relationship, _ entity: Entity) -> SQL {
        switch plan.new.link(for: relationship, of: entity) {
        case .column(_, let column): "o.\(name: column) IS NOT NULL"
        case .inverseColumn(let table, let column, _):
            "SELECT count(*) FROM \(name: table) AS d WHERE d.\(name: column) = o.\(key)"
        case .join(let table, let own, _, _):
            "SELECT count(*) FROM \(name: table) AS d WHERE d.\(name: own) = o.\(key)"
        }
    }

    // MARK: Constraints

    /// nil equals nothing: a constraint applies to objects that have all its values.
    private func checkUniqueness(
        _ names: [String], of entity: Entity, _ origin: Entity
    ) throws {
        // An inherited constraint is checked for all objects of its entity.
        guard entity.declared.uniquenessConstraints.contains(names) else { return }
        let formerNames = names.map {
            plan.mapping.origin(of: $0, in: entity)?.name ?? ""
        }
        let isInsensitive = entity.declared.isInsensitive(names)
        let isFormer = origin.uniquenessConstraints.contains {
            Set($0) == Set(formerNames) && (!isInsensitive || origin.declared.isInsensitive($0))
        }
        let changes = !plan.conversions.isEmpty || !plan.links.isEmpty
        guard !isFormer || changes else { return }
        let columns = plan.new.columns(named: names, of: entity).map {
            isInsensitive
                ? "\(function: IndexFunctions.canonical)(\(name: $0))" : "\(name: $0)" as SQL
        }
        let present = columns.map { "\($0) IS NOT NULL" as SQL }
        let objects: SQL = "(SELECT * FROM \(rows(of: entity, includingSubentities: true)))"
        let rows = try connection.prepare(
            """
            SELECT \(key), \(entityName(of: entity)) FROM \(objects) WHERE (\(columns)) IN \
            (SELECT \(columns) FROM \(objects) WHERE \(present, separator: " AND ") \
            GROUP BY \(columns) HAVING count(*) > 1) ORDER BY \(columns), \(key)
            """)
        let list = names.joined(separator: ", ")
        let ending = isInsensitive ? " without regard to case and accents" : ""
        while try rows.step() {
            faults.report(
                rows.string(at: 1), key: rows.int64(at: 0),
                "another object has the same \(list), which become\(names.count == 1 ? "s" : "") "
                    + "unique\(ending)")
        }
    }

    // MARK: Names

    private var key: SQL { "\(name: Layout.keyColumn)" }

    private func entityName(of entity: Entity) -> SQL {
        plan.new.kinds(inTableOf: entity) == nil
            ? "\(literal: entity.name)" : "\(name: Layout.entityColumn)"
    }

    /// The table of an entity with the condition that selects its own objects.
    private func rows(of entity: Entity, includingSubentities: Bool = false) -> SQL {
        let table: SQL = "\(name: plan.new.table(for: entity))"
        guard plan.new.kinds(inTableOf: entity) != nil else { return table }
        var names = [entity.name]
        if includingSubentities { names += schema.subentities(of: entity.name).map(\.name) }
        let literals = names.map { "\(literal: $0)" as SQL }
        return "\(table) WHERE \(name: Layout.entityColumn) IN (\(literals))"
    }
}
