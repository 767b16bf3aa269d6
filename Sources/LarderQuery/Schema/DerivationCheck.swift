import FoundationEssentials
import LarderModel

/// Parses, types and orders the derivations of a schema that is otherwise valid.
struct DerivationCheck {
    private let schema: Schema
    private var problems: [LocatedProblem] = []

    /// Returns the derivations in an order in which they can be computed.
    ///
    /// - Throws: `SchemaError` with all problems, each at the key `derived` of its attribute.
    static func derivations(in schema: Schema) throws(SchemaError) -> [Derivation] {
        guard schema.entities.contains(where: { $0.attributes.contains(where: \.isDerived) })
        else { return [] }
        var check = DerivationCheck(schema: schema)
        let found = check.read()
        let ordered = check.problems.isEmpty ? check.ordered(found) : []
        guard check.problems.isEmpty else {
            throw SchemaError(problems: check.problems.sorted { $0.path < $1.path }.map(\.problem))
        }
        return ordered
    }

    private init(schema: Schema) { self.schema = schema }

    private struct Found {
        let derivation: Derivation
        let path: SchemaPath
    }

    private mutating func read() -> [Found] {
        var found: [Found] = []
        for entity in schema.entities {
            for attribute in entity.attributes {
                guard let text = attribute.derivation else { continue }
                let indexes = schema.indexes(of: attribute.name, in: entity)
                let path = SchemaPath.root["entities"][indexes.entity]["attributes"][
                    indexes.attribute][
                        "derived"]
                do throws(LarderError) {
                    let derivation = try derivation(text, attribute, entity)
                    found.append(Found(derivation: derivation, path: path))
                } catch {
                    // An inherited derivation is reported only where it is declared.
                    guard schema.entities[indexes.entity].name == entity.name else { continue }
                    problems.append(LocatedProblem(path: path, message: error.message))
                }
            }
        }
        return found
    }

    private func derivation(
        _ text: String, _ attribute: Attribute, _ entity: Entity
    ) throws(LarderError) -> Derivation {
        let typer = try QueryTyper(
            entityName: entity.name,
            conversion: QueryValueConversion(
                schema: schema, store: nil, acceptsTemporaryObjects: false))
        let expression = try typer.value(.format(text), named: "derivation")
        var sources = DerivationSources(schema, entity, typer.source.sourceMaps)
        try sources.add(expression)
        guard sources.readsTime || !sources.sources.isEmpty else {
            throw LarderError(
                .malformedSchema, "reads no property; use a default for a constant value")
        }
        let wanted = OperandType.attribute(attribute.type)
        let operand = try typer.operand(
            expression, as: wanted, name: "\(entity.name).\(attribute.name)")
        let read = operand.reading(as: MemberKind(storedAs: attribute.type))
        guard case .attribute(let type)? = read.type, attribute.type.holds(type) else {
            let given = read.type?.nounWithArticle ?? "nil"
            throw LarderError(
                .malformedSchema,
                "is \(given), which \(attribute.type.nounWithArticle) cannot hold")
        }
        return Derivation(
            entityName: entity.name, attribute: attribute, expression: expression, type: type,
            sources: sources.sources, readsTime: sources.readsTime)
    }

    // MARK: - Order

    /// Sorts topologically: derivations that read no derived attribute first. Derivations that
    /// remain are part of a cycle.
    private mutating func ordered(_ found: [Found]) -> [Derivation] {
        let indexes = Dictionary(
            uniqueKeysWithValues: found.enumerated().map { ($1.derivation.qualifiedName, $0) })
        let read = found.map { readNames($0.derivation).compactMap { indexes[$0] }.sorted() }
        var readers = [[Int]](repeating: [], count: found.count)
        for (index, others) in read.enumerated() {
            for other in others { readers[other].append(index) }
        }
        var waitingFor = read.map(\.count)
        var order = found.indices.filter { waitingFor[$0] == 0 }
        var next = 0
        while next < order.count {
            for reader in readers[order[next]] {
                waitingFor[reader] -= 1
                if waitingFor[reader] == 0 { order.append(reader) }
            }
            next += 1
        }
        if let stuck = found.indices.first(where: { waitingFor[$0] > 0 }) {
            reportCycle(from: stuck, found, read) { waitingFor[$0] > 0 }
        }
        return order.map { found[$0].derivation }
    }

    /// The qualified names of the attributes that the derivation reads.
    private func readNames(_ derivation: Derivation) -> Set<String> {
        let entity = schema.entity(named: derivation.entityName)
        return Set(
            derivation.sources.flatMap { source -> [String] in
                switch source {
                case .own(let name): return ["\(derivation.entityName).\(name)"]
                case .related(let through, let name):
                    guard case .relationship(let relationship)? = entity?.property(named: through)
                    else { return [] }
                    let subentities = schema.subentities(of: relationship.destination).map(\.name)
                    return ([relationship.destination] + subentities).map { "\($0).\(name)" }
                }
            })
    }

    /// Reports a cycle. Each waiting derivation waits for another one, so following them reaches
    /// one of them twice.
    private mutating func reportCycle(
        from start: Int, _ found: [Found], _ read: [[Int]], isWaiting: (Int) -> Bool
    ) {
        var steps = [start]
        var stepIndexes = [start: 0]
        while let last = steps.last, let next = read[last].first(where: isWaiting) {
            guard let first = stepIndexes[next] else {
                stepIndexes[next] = steps.count
                steps.append(next)
                continue
            }
            let others = steps[(first + 1)...].map { "`\(found[$0].derivation.qualifiedName)`" }
            let between =
                others.isEmpty ? "" : ", through \(others.prefix(5).joined(separator: ", "))"
            problems.append(
                LocatedProblem(path: found[next].path, message: "depends on itself\(between)"))
            return
        }
    }
}

extension AttributeType {
    /// Whether an attribute of this type can hold values of another: of its own type, or numbers
    /// that differ in size only.
    fileprivate func holds(_ type: AttributeType) -> Bool {
        if self == type { return true }
        if type.isInteger { return isNumber }
        return (type == .float || type == .double) && (self == .float || self == .double)
    }
}
