import FoundationEssentials
import LarderModel

// Only elements of captured collections have values here. A store has no access by index or key.

extension PredicateExpressions.CollectionIndexSubscript: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        guard case .captured(let collection) = try translation.term(wrapped),
            case .captured(let index) = try translation.term(index)
        else { throw unsupported("an element of a stored \(Wrapped.Output.self)") }
        guard index >= collection.startIndex, index < collection.endIndex else {
            throw unsupported("an index out of the bounds of a captured collection")
        }
        return .captured(collection[index])
    }
}

extension PredicateExpressions.DictionaryKeySubscript: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        guard case .captured(let dictionary) = try translation.term(wrapped),
            case .captured(let key) = try translation.term(key)
        else { throw unsupported("an element of a dictionary by a stored key") }
        return .captured(dictionary[key])
    }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        guard case .captured(let dictionary) = try translation.term(wrapped),
            case .captured(let key) = try translation.term(key)
        else { throw unsupported("an element of a dictionary by a stored key") }
        guard let value = dictionary[key] else { return try translation.term(self.default) }
        return .captured(value)
    }
}

extension PredicateExpressions.StringContainsRegex: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Bool> {
        throw unsupported("a Swift regular expression")
    }
}
