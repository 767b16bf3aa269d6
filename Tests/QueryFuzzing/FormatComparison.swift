public import LarderModel
import LarderQuery
import TestSupport

/// Compares SQL with the evaluator for predicates that are format strings, about the same objects
/// each time.
public final class FormatComparison {
    private let store: FuzzedStore

    /// - Parameter schema: The names of inverse relationships must end with `back`.
    public init(_ schema: Schema) throws {
        var random = SeededGenerator(seed: 1)
        store = try FuzzedStore(schema, RandomObjects.objects(of: schema, &random))
    }

    /// The difference between the two sides, if there is one: only one accepts the predicate, or
    /// they select other objects.
    ///
    /// A predicate may contain several errors, and the two sides may report different ones.
    public func difference(
        about entityName: String, _ format: String, _ parameters: QueryParameters
    ) -> String? {
        let fetch = Fetch(entityName, where: .format(format), selection: .identifiers)
        let selected = store.selected(fetch, parameters)
        let evaluated = evaluated(about: entityName, format, parameters)
        if Self.agree(selected, evaluated, format) { return nil }
        return "SQL: \(selected), evaluator: \(evaluated)"
    }

    private func evaluated(
        about entityName: String, _ format: String, _ parameters: QueryParameters
    ) -> QueryOutcome {
        do throws(LarderError) {
            let parsed = try PredicateFormat.parse(format, arguments: parameters.arguments)
            let query = QueryCase(
                entityName: entityName, predicate: parsed.expression, arguments: [])
            return store.evaluated(query, parameters)
        } catch {
            return .refused(error.code)
        }
    }

    private static func agree(
        _ selected: QueryOutcome, _ evaluated: QueryOutcome, _ format: String
    ) -> Bool {
        if selected == evaluated || selected.dependsOnOrder || evaluated.dependsOnOrder {
            return true
        }
        switch (selected, evaluated) {
        case (.refused(.storageFailed), _): return false
        case (.refused, .refused): return true
        // SQL needs no value for a variable in a comparison that no value satisfies: `$name < nil`.
        case (.keys, .refused(.malformedPredicate)): return format.contains("$")
        // The evaluator does not read members of JSON documents at the end of to-many key paths.
        case (.keys, .refused(.unsupported)): return true
        // The time, and the last digits of sums of floating-point numbers, may differ.
        case (.keys, .keys):
            let text = format.lowercased()
            return ["now", "sum", "average", "avg", "stddev"].contains { text.contains($0) }
        default: return false
        }
    }
}
