import LarderModel
import LarderQuery

extension QueryLowering {
    package func predicate(_ predicate: TypedPredicate) throws(LarderError) -> PlanPredicate {
        switch predicate {
        case .constant(let bool): return .constant(bool)
        case .isTrue(let tested): return .isTrue(try operand(tested))
        case .decided(let comparison): return .decided(comparison)
        case .comparison(let left, let comparison, let right, let options):
            return .comparison(
                try operand(left), comparison, try operand(right), options: options)
        case .between(let value, let lower, let upper, let options):
            return .between(
                try operand(value), try operand(lower), try operand(upper), options: options)
        case .oneOf(let value, let list, let options):
            return .oneOf(try operand(value), try operands(list), options: options)
        case .oneOfList(let value, let list, let options):
            return .oneOfList(try operand(value), list, options: options)
        case .isKind(let path, let tested): return try isKind(path, tested)
        case .and(let parts): return .and(try predicates(parts))
        case .or(let parts): return .or(try predicates(parts))
        case .not(let part): return .not(try self.predicate(part))
        case .exists(let collection, let test):
            let (clause, condition) = try clause(collection)
            let holds = try self.predicate(test)
            return .exists(
                PlanCollection(sources: clause.sources, predicate: condition.and(holds)))
        }
    }

    private func predicates(
        _ parts: [TypedPredicate]
    ) throws(LarderError) -> [PlanPredicate] {
        var lowered: [PlanPredicate] = []
        for part in parts { lowered.append(try predicate(part)) }
        return lowered
    }

    private func isKind(
        _ path: TypedKeyPath, _ tested: Entity
    ) throws(LarderError) -> PlanPredicate {
        let schema = layout.schema
        let row = try locating(path) { () throws(LarderError) in
            try destination(of: path.steps[...], from: self.row(path.base))
        }
        if schema.isKind(row.entity.name, of: tested.name) {
            guard row.isOptional else { return .yes }
            return .not(Self.isNil(.column(row.keyColumn(name: row.entity.name))))
        }
        guard schema.isKind(tested.name, of: row.entity.name) else { return .constant(false) }
        return .isKind(try entityColumn(of: row), layout.concreteNames(of: tested))
    }

    private static func isNil(_ operand: PlanOperand) -> PlanPredicate {
        .comparison(operand, .equal, .value(.null(named: operand.name)), options: [])
    }

    // MARK: Operands

    package func operand(_ operand: TypedOperand) throws(LarderError) -> PlanOperand {
        if !outputs.isEmpty, let output = outputs[operand] { return output }
        switch operand {
        case .property(let path, let name): return .column(try column(path, named: name))
        case .element(let element): return self.element(element)
        case .value(let value): return .value(value)
        case .member(let member):
            return .member(
                PlanMember(
                    document: try self.operand(member.document), path: member.path,
                    kind: member.kind))
        case .function(let function, let operands, let type, let name):
            return .function(function, try self.operands(operands), type, name: name)
        case .converted(let operand, let type): return .converted(try self.operand(operand), type)
        case .predicate(let predicate): return .predicate(try self.predicate(predicate))
        case .collection(let function, let collection, let element, let type, let name):
            var (clause, condition) = try clause(collection)
            var computed = try element.map { element throws(LarderError) in
                try self.operand(element)
            }
            if function == .count, let counted = computed {
                if counted.isNullable { condition = condition.and(.not(Self.isNil(counted))) }
                computed = nil
            }
            return .collection(
                function, PlanCollection(sources: clause.sources, predicate: condition), computed,
                type, name: name)
        case .join(let join): return .join(try self.join(join))
        case .aggregate(let function, let operand, let type, let name):
            let computed = try operand.map { operand throws(LarderError) in
                try self.operand(operand)
            }
            return .aggregate(function, computed, type, name: name)
        }
    }

    private func join(_ join: TypedJoin) throws(LarderError) -> PlanJoin {
        let separator = try operand(join.separator)
        let (clause, condition) = try clause(join.collection)
        let text = try operand(join.text)
        return PlanJoin(
            collection: PlanCollection(sources: clause.sources, predicate: condition), text: text,
            separator: separator, position: join.collection.isOrdered ? clause.position : nil)
    }

    private func operands(_ operands: [TypedOperand]) throws(LarderError) -> [PlanOperand] {
        var lowered: [PlanOperand] = []
        for operand in operands { lowered.append(try self.operand(operand)) }
        return lowered
    }

    private func element(_ element: TypedElement) -> PlanOperand {
        guard let operand = elements[element.slot] else {
            preconditionFailure("the collection around an expression is lowered first")
        }
        return operand
    }

    // MARK: Collections

    /// Opens a clause with one row per element of a collection. The condition limits its rows to
    /// the elements.
    private func clause(
        _ collection: TypedCollection
    ) throws(LarderError) -> (FromClause, condition: PlanPredicate) {
        let clause = FromClause()
        var condition = PlanPredicate.yes
        for part in collection.parts {
            let element = try locating(part.path) { () throws(LarderError) in
                try PlanOperand.column(self.element(of: part, in: clause))
            }
            if part.excludesNil, element.isNullable {
                condition = condition.and(.not(Self.isNil(element)))
            }
            for predicate in part.predicates {
                condition = condition.and(try self.predicate(predicate))
            }
        }
        return (clause, condition.and(clause.visibility))
    }

    /// Adds the tables of a part to its clause, and puts its element into the slot.
    private func element(
        of part: TypedCollection.Part, in clause: FromClause
    ) throws(LarderError) -> PlanColumn {
        let path = part.path
        if let array = part.array { return try element(of: array, at: part, in: clause) }
        let end = path.steps.lastIndex(where: \.isToMany).map { $0 + 1 } ?? 0
        var row = self.row(path.base)
        for step in path.steps[..<end] {
            if case .relationship(let relationship) = step.kind, relationship.isToMany {
                row = try elements(of: relationship, from: row, in: clause)
            } else {
                row = try destination(of: step, from: row)
            }
        }
        let rest = path.steps[end...]
        let element = try column(rest, from: row, path, named: path.name)
        if case .object = path.type {
            rows[part.slot] = try destination(of: rest, from: row)
        } else {
            elements[part.slot] = .column(element)
        }
        return element
    }

    /// Adds the elements of an array in JSON, which begin a clause.
    private func element(
        of array: [String], at part: TypedCollection.Part, in clause: FromClause
    ) throws(LarderError) -> PlanColumn {
        let document = PlanOperand.column(try column(part.path, named: part.path.name))
        let alias = nextAlias()
        clause.add(
            PlanSource(
                alias: alias, table: ElementTable.table, join: .first,
                array: array.isEmpty
                    ? document : .member(PlanMember(document: document, path: array))))
        let element = PlanColumn(
            reference: ColumnReference(alias: alias, column: ElementTable.column),
            type: .attribute(.json), isNullable: false, isIndexed: false, name: part.path.name)
        clause.setPosition(ElementTable.indexColumn, key: ElementTable.indexColumn, alias: alias)
        elements[part.slot] = .column(element)
        return element
    }
}
