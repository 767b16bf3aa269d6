import FoundationEssentials
import LarderModel
import LarderSQL

/// The rules for a schema that this store adds to those of the schema itself: its patterns compile,
/// its derivations can be planned, the properties of its constraints and indexes have columns in
/// one table, and no table has too many columns.
enum SchemaStorability {
    /// SQLite's default limit.
    private static let columnsMax = 2_000

    static func check(_ schema: Schema) throws(LarderError) {
        let layout = Layout(schema)
        var problems: [SchemaError.Problem] = []
        for (index, entity) in schema.entities.enumerated() {
            problems += patternFaults(of: entity, path: "entities[\(index)]")
            problems += indexFaults(of: entity, path: "entities[\(index)]", layout)
            guard entity.parent == nil else { continue }
            let columnCount = layout.columns(of: entity).count
            if columnCount > columnsMax {
                problems.append(
                    SchemaError.Problem(
                        path: "entities[\(index)]",
                        message: "takes \(columnCount) columns, and SQLite has \(columnsMax)"))
            }
        }
        guard problems.isEmpty else { throw SchemaError(problems: problems).larderError }
        _ = try derivationPlans(of: schema)
    }

    private static func patternFaults(of entity: Entity, path: String) -> [SchemaError.Problem] {
        var problems: [SchemaError.Problem] = []
        for (index, attribute) in entity.declared.attributes.enumerated() {
            guard let pattern = attribute.validation.pattern else { continue }
            do throws(RegularExpression.Problem) {
                _ = try RegularExpression(pattern)
            } catch {
                let position = error.offset.map { " at byte \($0)" } ?? ""
                problems.append(
                    SchemaError.Problem(
                        path: "\(path).attributes[\(index)].pattern",
                        message: "the pattern does not compile: \(error.message)\(position)"))
            }
        }
        return problems
    }

    /// The statements that compute derived attributes.
    ///
    /// - Throws: `malformedSchema` with the errors that only the planner finds: a pattern that does
    ///   not compile, or a text that is no date.
    static func derivationPlans(of schema: Schema) throws(LarderError) -> [DerivationPlan] {
        guard !schema.derivations.isEmpty else { return [] }
        let layout = Layout(schema)
        // No derivation can name an object, so any store identifier is right.
        let converter = ValueConverter(storeIdentifier: UUID(), schema: schema)
        var plans: [DerivationPlan] = []
        var problems: [SchemaError.Problem] = []
        for derivation in schema.derivations {
            do throws(LarderError) {
                plans.append(
                    try DerivationPlan(
                        derivation, isOfOneObject: true, layout: layout, converter: converter))
            } catch {
                let fault = fault(of: derivation, in: schema, error.message)
                // Subentities inherit the same error.
                if !problems.contains(fault) { problems.append(fault) }
            }
        }
        guard problems.isEmpty else { throw SchemaError(problems: problems).larderError }
        return plans
    }

    static func fault(
        of derivation: Derivation, in schema: Schema, _ message: String
    ) -> SchemaError.Problem {
        let place = schema.entity(named: derivation.entityName).map {
            schema.indexes(of: derivation.attribute.name, in: $0)
        }
        return SchemaError.Problem(
            path: "entities[\(place?.entity ?? 0)].attributes[\(place?.attribute ?? 0)].derived",
            message: message)
    }

    private static func indexFaults(
        of entity: Entity, path: String, _ layout: Layout
    ) -> [SchemaError.Problem] {
        let lists = [
            ("unique", entity.declared.uniquenessConstraints),
            ("indexes", entity.declared.indexes),
        ]
        return lists.flatMap { key, constraints in
            constraints.flatMap { names in
                names.compactMap { name -> SchemaError.Problem? in
                    guard let property = entity.property(named: name),
                        layout.column(for: property, of: entity) == nil
                    else { return nil }
                    return SchemaError.Problem(
                        path: "\(path).\(key)",
                        message: "\(entity.name).\(name) has no column of its own to index")
                }
            }
        }
    }
}
