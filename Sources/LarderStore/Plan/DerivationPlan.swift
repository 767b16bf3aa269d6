import FoundationEssentials
import LarderModel

/// How a derived attribute is computed: by the SQL that a query with its expression would be, so
/// that both mean the same.
struct DerivationPlan: Sendable {
    /// What stands for a `?`.
    private enum Parameter: Sendable {
        case key
        case now
        case constant(SQLBinding)
    }

    let derivation: Derivation
    /// A row for one object, or for all: key, version, what the expression gives, what is stored.
    let text: String
    private let parameters: [Parameter]

    static let keyColumn = 0
    static let computedColumn = 2
    static let storedColumn = 3

    /// - Parameter isOfOneObject: Whether it computes one object's value, or every object's.
    init(
        _ derivation: Derivation, isOfOneObject: Bool, layout: Layout, converter: ValueConverter
    ) throws(LarderError) {
        let resolver = try QueryResolver(
            entityName: derivation.entityName, layout: layout, converter: converter,
            includesSubentities: false)
        let query = try resolver.derivation(derivation, isOfOneObject: isOfOneObject)
        let values = QueryParameters(arguments: isOfOneObject ? [1] : [])
        var writer = SQLWriter(values, converter)
        let statement = try writer.statement(query)
        var parameters: [Parameter] = []
        for parameter in statement.parameters {
            switch parameter {
            case .now: parameters.append(.now)
            case .value(let value) where value.source == .argument(0): parameters.append(.key)
            case .elements(let list, let options, let places):
                let elements = try SQLParameter.elements(
                    of: list, options, places, values, converter)
                parameters += elements.map { .constant($0) }
            default: parameters.append(.constant(try parameter.binding(values, converter)))
            }
        }
        self.derivation = derivation
        self.parameters = parameters
        text = statement.text
    }

    /// - Parameters:
    ///   - key: Of the one object; nil if it is for all.
    ///   - now: Seconds since 2001.
    func bindings(key: Int64?, now: Double) -> [SQLBinding] {
        parameters.map { parameter in
            switch parameter {
            case .key: key.map { .integer($0) } ?? .null
            case .now: .real(now)
            case .constant(let binding): binding
            }
        }
    }

    /// What the row's computed value is as the attribute stores it.
    ///
    /// - Throws: `arithmeticOverflow` for a number that the attribute's type cannot hold.
    func computed(_ row: Statement) throws(LarderError) -> SQLBinding {
        let binding = row.value(at: Self.computedColumn)
        let type = derivation.attribute.type
        guard let value = value(of: binding),
            let stored = try? SQLBinding(storing: value, as: type)
        else {
            throw LarderError(
                .arithmeticOverflow, "what its derivation gives is outside of \(type.rawValue)")
        }
        return stored
    }

    private func value(of binding: SQLBinding) -> Value? {
        switch (binding, derivation.type) {
        case (.integer(let integer), .date):
            .date(Date(timeIntervalSinceReferenceDate: Double(integer)))
        case (.integer(let integer), let type) where type != .bool: .int(integer)
        case (.real(let real), .float): .double(real)
        case (_, let type): binding.value(of: type)
        }
    }
}

extension QueryResolver {
    /// The value of a derived attribute, beside the one that is stored.
    ///
    /// - Parameter isOfOneObject: Whether only of the object whose key is the first argument.
    fileprivate func derivation(
        _ derivation: Derivation, isOfOneObject: Bool
    ) throws(LarderError) -> ResolvedQuery {
        let name = derivation.attribute.name
        let type = OperandType.attribute(derivation.attribute.type)
        var computed = try operand(
            derivation.expression, in: rootScope, as: type, name: derivation.qualifiedName)
        if case .member(var member) = computed {
            member.kind = PlanMember.Kind(beside: type) ?? .text
            computed = .member(member)
        }
        let stored = try operand(.keyPath(.object, [name]), in: rootScope)
        let columns = [
            try outputColumn("computed", computed), try outputColumn("stored", stored),
        ]
        var predicate = PlanPredicate.yes
        if isOfOneObject {
            let key = PlanValue(source: .argument(0), type: .int64, name: entity.name)
            let column = root.keyColumn(name: entity.name)
            predicate = .comparison(.column(column), .equal, .value(key), options: [])
        }
        return ResolvedQuery(
            verb: .fetch, entityName: entity.name, entityNames: isOfOneObject ? nil : entityNames,
            sources: rootScope.sources, predicate: predicate, hasIdentity: true, columns: columns)
    }
}
