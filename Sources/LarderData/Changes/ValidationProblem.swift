public import LarderModel
public import SwiftData

/// A rule that the changes of a rejected save break.
public struct ValidationProblem: Hashable, Sendable {
    public typealias Rule = ChangeViolation.Rule

    /// The model that is changed; temporary if it is not saved yet. Nil if the problem is not that
    /// of one model.
    public let model: PersistentIdentifier?
    /// The name of the model's entity.
    public let entityName: String?
    /// The names of the properties in the model class; several for a constraint over several.
    public let propertyNames: [String]
    /// The rule; nil if the problem is of another kind, which ``message`` describes.
    public let rule: Rule?
    /// One sentence without a final period, without values of the store.
    public let message: String

    init(_ violation: ChangeViolation) {
        model = violation.uri.flatMap { try? PersistentIdentifier(uriRepresentation: $0) }
        entityName = violation.entityName
        propertyNames = violation.propertyNames
        rule = violation.rule
        message = violation.message
    }
}

extension SwiftDataError {
    /// Every rule that a rejected save or update breaks, at most 100; empty for other errors.
    ///
    ///     do {
    ///         try context.save()
    ///     } catch let error as SwiftDataError {
    ///         for problem in error.validationProblems { … }
    ///     }
    public var validationProblems: [ValidationProblem] { violations.map(ValidationProblem.init) }
}
