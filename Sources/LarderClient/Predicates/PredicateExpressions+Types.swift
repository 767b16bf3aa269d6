import FoundationEssentials
import LarderModel

/// `$0.owner is Student`: whether the object is of the entity or of one of its subentities.
extension PredicateExpressions.TypeCheck: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        switch try translation.term(input) {
        case .captured(let value): return .captured(value is Desired)
        case .computed(let object):
            guard let entity = Desired.self as? any QueryableEntity.Type else {
                throw unsupported(
                    "a test for the type \(Desired.self)",
                    hint: "only types of entities can be tested")
            }
            return .computed(.typeTest(object, entityName: entity.entityName))
        }
    }
}

/// `$0 as? Student`: the object if it is of the entity or of one of its subentities, otherwise nil.
extension PredicateExpressions.ConditionalCast: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        switch try translation.term(input) {
        case .captured(let value): .captured(value as? Desired)
        case .computed(let object): .computed(try object.cast(to: Desired.self))
        }
    }
}

/// A forced cast. It is the same, because a store does not stop at an object of another entity.
extension PredicateExpressions.ForceCast: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        switch try translation.term(input) {
        case .captured(let value):
            guard let value = value as? Desired else {
                throw unsupported("a cast of a captured value to \(Desired.self)")
            }
            return .captured(value)
        case .computed(let object): return .computed(try object.cast(to: Desired.self))
        }
    }
}

extension QueryExpression {
    fileprivate func cast(to type: Any.Type) throws(LarderError) -> QueryExpression {
        guard let entity = type as? any QueryableEntity.Type else {
            throw unsupported("a cast to \(type)", hint: "use a type of an entity")
        }
        return try property(named: entity.entityName)
    }
}
