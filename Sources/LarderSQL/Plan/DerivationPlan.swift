import FoundationEssentials
import LarderModel
import LarderQuery

/// How a derived attribute is computed: by the SQL of a query with its expression, so that both
/// mean the same.
package struct DerivationPlan: Sendable {
    package let derivation: Derivation
    /// Reads one object or all, each with its key, its version, the computed and the stored value.
    private let statement: KeyStatement

    package var sql: SQL { statement.sql }

    package static let keyColumn = 0
    package static let computedColumn = 2
    package static let storedColumn = 3

    /// - Parameter isOfOneObject: Whether it computes the value of one object or of all.
    package init(
        _ derivation: Derivation, isOfOneObject: Bool, layout: Layout, converter: ValueConverter
    ) throws(LarderError) {
        let typer = try QueryTyper(
            entityName: derivation.entityName, conversion: converter.conversion,
            includesSubentities: false)
        let typed = try typer.derivation(derivation, isOfOneObject: isOfOneObject)
        var query = try QueryLowering(typed.entity, layout, converter).query(typed)
        if isOfOneObject { query.entityNames = nil }
        let values = QueryParameters(arguments: isOfOneObject ? [1] : [])
        var writer = SQLWriter(values, converter)
        self.derivation = derivation
        statement = try KeyStatement(writer.statement(query), converter)
    }

    /// - Parameters:
    ///   - key: The key of the one object; nil if the plan is for all.
    ///   - now: Seconds since 2001.
    package func values(key: Int64?, now: Double) -> [SQLValue] {
        statement.values(key: key.map { .integer($0) } ?? .null, now: now)
    }

    /// A row's computed value in the form in which the attribute stores it.
    ///
    /// - Parameter result: The value of ``computedColumn``.
    /// - Throws: `arithmeticOverflow` for a number that the attribute's type cannot hold.
    package func stored(_ result: SQLValue) throws(LarderError) -> SQLValue {
        let type = derivation.attribute.type
        guard let value = value(of: result),
            let stored = try? SQLValue(storing: value, as: type)
        else {
            throw LarderError(
                .arithmeticOverflow, "the derived value is outside the range of \(type.rawValue)")
        }
        return stored
    }

    private func value(of result: SQLValue) -> Value? {
        switch (result, derivation.type) {
        case (.integer(let integer), .date):
            .date(Date(timeIntervalSinceReferenceDate: Double(integer)))
        case (.integer(let integer), let type) where type != .bool: .int(integer)
        case (.real(let real), .float): .double(real)
        case (_, let type): result.value(of: type)
        }
    }
}
