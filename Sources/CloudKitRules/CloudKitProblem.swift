/// A feature of a schema that Larder has and CloudKit refuses.
///
/// A schema has three forms here: the file of `larder schema check`, the classes of a program, and
/// the source code that the macro `@CloudKitChecked` reads. Each form finds the facts, and the
/// rules and their sentences are these.
package enum CloudKitProblem: Hashable, Sendable {
    case requiredAttribute
    case requiredRelationship
    case withoutInverse
    case ordered
    case denyRule
    /// A constraint over properties of an entity.
    case unique([String])

    package static func ofAttribute(isOptional: Bool, hasDefault: Bool) -> [CloudKitProblem] {
        isOptional || hasDefault ? [] : [.requiredAttribute]
    }

    package static func ofRelationship(
        isOptional: Bool, hasInverse: Bool, isOrdered: Bool = false, isDenied: Bool
    ) -> [CloudKitProblem] {
        var problems: [CloudKitProblem] = []
        if !isOptional { problems.append(.requiredRelationship) }
        if !hasInverse { problems.append(.withoutInverse) }
        if isOrdered { problems.append(.ordered) }
        if isDenied { problems.append(.denyRule) }
        return problems
    }

    /// One sentence without a final period.
    ///
    /// - Parameter subject: The property, such as `Article.title`; the entity of a constraint.
    package func sentence(about subject: String) -> String {
        let rule =
            switch self {
            case .requiredAttribute: "be optional or have a default value in its declaration"
            case .requiredRelationship: "be optional"
            case .withoutInverse: "have an inverse"
            case .ordered: "not be ordered"
            case .denyRule: "not have the delete rule `deny`"
            case .unique(let names):
                "not have a unique constraint (\(names.joined(separator: ", ")))"
            }
        return "`\(subject)` must \(rule)"
    }
}
