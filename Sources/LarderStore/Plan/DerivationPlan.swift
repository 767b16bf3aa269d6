import FoundationEssentials
import LarderModel

/// How a derived attribute is computed: by the SQL of a query with its expression, so that both
/// mean the same.
struct DerivationPlan: Sendable {
    let derivation: Derivation
    /// Reads one object or all, each with its key, its version, the computed and the stored value.
    /// Every parameter is a constant, the time, or the object's key.
    let sql: SQL

    static let keyColumn = 0
    static let computedColumn = 2
    static let storedColumn = 3

    /// - Parameter isOfOneObject: Whether it computes the value of one object or of all.
    init(
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
        let statement = try writer.statement(query)
        var parameters: [SQLParameter] = []
        for parameter in statement.parameters {
            switch parameter {
            case .now: parameters.append(.now)
            case .value(let value) where value.source == .argument(0):
                parameters.append(parameter)
            case .elements(let list, let options, let count):
                let elements = try SQLParameter.elements(
                    of: list, options, count, values, converter)
                parameters += elements.map { .constant($0) }
            default: parameters.append(.constant(try parameter.value(values, converter)))
            }
        }
        self.derivation = derivation
        sql = statement.with(parameters)
    }

    /// - Parameters:
    ///   - key: The key of the one object; nil if the plan is for all.
    ///   - now: Seconds since 2001.
    func values(key: Int64?, now: Double) -> [SQLValue] {
        sql.parameters.map { parameter in
            switch parameter {
            case .now: .real(now)
            case .constant(let value): value
            default: key.map { .integer($0) } ?? .null
            }
        }
    }

    /// The row's computed value in the form in which the attribute stores it.
    ///
    /// - Throws: `arithmeticOverflow` for a number that the attribute's type cannot hold.
    func computed(_ row: Statement) throws(LarderError) -> SQLValue {
        let result = row.value(at: Self.computedColumn)
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
