import FoundationEssentials

/// Parses, types and orders the derivations of a schema that is otherwise valid.
struct DerivationCheck {
    private let schema: Schema
    private var problems: [LocatedProblem] = []

    /// Returns the derivations in an order in which they can be computed.
    ///
    /// - Throws: ``SchemaError`` with all problems, each at the key `derived` of its attribute.
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
        let (expression, sourceMap) = try Self.parsed(text, of: entity)
        var sources = DerivationSources(schema, entity, sourceMap)
        try sources.add(expression)
        guard sources.readsTime || !sources.sources.isEmpty else {
            throw LarderError(
                .malformedSchema, "reads no property; use a default for a constant value")
        }
        let name = "\(entity.name).\(attribute.name)"
        let wanted = OperandType.attribute(attribute.type)
        let type: OperandType?
        do throws(LarderError) {
            type = try operandType(expression, of: entity, as: wanted, comparedWith: name)
        } catch {
            throw located(error, in: expression, of: entity, sourceMap)
        }
        guard case .attribute(let type)? = type, attribute.type.holds(type) else {
            let given = type?.nounWithArticle ?? "nil"
            throw LarderError(
                .malformedSchema,
                "is \(given), which \(attribute.type.nounWithArticle) cannot hold")
        }
        return Derivation(
            entityName: entity.name, attribute: attribute, expression: expression, type: type,
            sources: sources.sources, readsTime: sources.readsTime)
    }

    /// Parses the text of a derivation. A plain key path is not parsed as a format string, so its
    /// names may be keywords.
    private static func parsed(
        _ text: String, of entity: Entity
    ) throws(LarderError) -> (QueryExpression, FormatSourceMap) {
        let name = "derivation"
        let steps = text.split(separator: ".", omittingEmptySubsequences: false)
        guard steps.allSatisfy(SchemaName.isWellFormed), steps.count <= Limits.keyPathStepsMax,
            entity.property(named: String(steps[0])) != nil
        else {
            let parsed = try PredicateFormat.parseExpression(text, name: name)
            return (parsed.expression, parsed.sourceMap)
        }
        let parsed = PredicateFormat.keyPath(text, name: name)
        return (parsed.expression, parsed.sourceMap)
    }

    // MARK: - Types

    private func operandType(
        _ expression: QueryExpression, of entity: Entity, as type: OperandType?,
        comparedWith name: String
    ) throws(LarderError) -> OperandType? {
        // Only types are computed here, so neither the time nor the matcher matters.
        let evaluator = try Evaluator(
            schema: schema, entityName: entity.name, now: Date(timeIntervalSinceReferenceDate: 0),
            matcher: { (_, _, _) throws(LarderError) in false })
        var typer = ExpressionTyper(evaluator)
        return try typer.operand(expression, as: type, comparedWith: name).type
    }

    /// The error with the column of the innermost part that causes it.
    private func located(
        _ error: LarderError, in expression: QueryExpression, of entity: Entity,
        _ sourceMap: FormatSourceMap
    ) -> LarderError {
        var path = [expression]
        while let child = path[0].children.first(where: { child in
            do throws(LarderError) {
                _ = try operandType(child, of: entity, as: nil, comparedWith: "the other value")
                return false
            } catch let other {
                return other.message == error.message
            }
        }) {
            path.insert(child, at: 0)
        }
        return sourceMap.locating(error, at: path)
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
