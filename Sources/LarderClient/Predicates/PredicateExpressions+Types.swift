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

extension PredicateExpressions.ConditionalCast: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        throw unsupported("a cast with `as?`")
    }
}

extension PredicateExpressions.ForceCast: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        throw unsupported("a cast with `as`")
    }
}
