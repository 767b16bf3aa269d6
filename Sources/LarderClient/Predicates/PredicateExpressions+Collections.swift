import FoundationEssentials
import LarderModel

extension PredicateExpressions.SequenceContains: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Bool> {
        switch (try translation.term(sequence), try translation.term(element)) {
        case (.captured(let sequence), .captured(let element)):
            return .captured(sequence.contains(element))
        case (.captured(let sequence), .computed(let element)):
            if let test = try translation.test(element, isWithin: sequence) {
                return .computed(test)
            }
            let list = translation.argument(.list(try translation.list(sequence)))
            return .computed(.compare(element, .in, list))
        case (.computed(let collection), let element):
            // The element of a string is a character.
            guard
                LHS.Output.self == String.self
                    || LHS.Output.self is any EntityCollection.Type
            else { throw unsupported("contains on a stored \(LHS.Output.self)") }
            return .computed(
                .compare(collection, .contains, try translation.operand(element)))
        }
    }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Bool> {
        let found = try translation.elements(of: sequence, variable, where: test)
        return .computed(.compare(.collection(.count, found), .greaterThan, .constant(.int(0))))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Bool> {
        let exceptions = try translation.elements(
            of: sequence, variable, where: test, result: false)
        return .computed(.compare(.collection(.count, exceptions), .equal, .constant(.int(0))))
    }
}

extension PredicateExpressions.Filter: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        .computed(try translation.elements(of: sequence, variable, where: filter))
    }
}

extension PredicateExpressions.SequenceMinimum: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        guard case .captured(let elements) = try translation.term(elements) else {
            throw unsupported("min() of a stored collection")
        }
        return .captured(elements.min())
    }
}

extension PredicateExpressions.SequenceMaximum: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        guard case .captured(let elements) = try translation.term(elements) else {
            throw unsupported("max() of a stored collection")
        }
        return .captured(elements.max())
    }
}

extension Translation {
    /// The elements of a to-many relationship for which a test has this result.
    fileprivate mutating func elements<Source: PredicateExpression, Element>(
        of source: Source, _ variable: PredicateExpressions.Variable<Element>,
        where test: some PredicateExpression<Bool>, result: Bool = true
    ) throws(LarderError) -> QueryExpression {
        guard case .computed(let collection) = try term(source),
            Element.self is any QueryableEntity.Type
        else {
            throw unsupported(
                "a test of each element of \(Source.Output.self)",
                hint: "only elements of to-many relationships can be tested")
        }
        // Two filters become one subquery with both tests.
        if case .subquery(let collection, let iterator, let first) = collection {
            bind(variable, to: .computed(.variable(iterator)))
            let second = try predicate(test)
            return .subquery(
                collection, variable: iterator,
                predicate: .both(first, result ? second : second.negated))
        }
        let iterator = nextIterator()
        bind(variable, to: .computed(.variable(iterator)))
        let test = try predicate(test)
        return .subquery(
            collection, variable: iterator, predicate: result ? test : test.negated)
    }
}

extension Translation {
    /// The elements of a captured sequence.
    ///
    /// - Throws: `resourceExhausted` for a sequence that is too long, or infinite.
    fileprivate func list(_ captured: some Sequence) throws(LarderError) -> [Value] {
        var values: [Value] = []
        for element in captured {
            guard values.count < Limits.listElementsMax else {
                throw LarderError(
                    .resourceExhausted,
                    "a captured collection has more than \(Limits.listElementsMax) elements")
            }
            values.append(try Value(captured: element, in: entity))
        }
        return values
    }
}
