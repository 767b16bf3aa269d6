public import Foundation
internal import LarderClient
internal import LarderModel
public import SwiftData

extension ModelContext {
    /// Changes all models of the store that match, at once and in one transaction. Validation and
    /// delete rules apply; pending changes of contexts do not count.
    ///
    ///     try context.update(
    ///         where: #Predicate<Article> { $0.words == 0 },
    ///         .set(\.words, to: #Expression { $0.title.count }))
    ///
    /// The models of this context that have changed and have no pending changes are refreshed.
    ///
    /// - Returns: the number of models that matched.
    /// - Throws: ``SwiftDataError/modelValidationFailure`` with the rules that the changes break
    ///   (`validationProblems`), ``SwiftDataError/unsupportedPredicate`` and
    ///   ``SwiftDataError/unsupportedKeyPath``.
    @discardableResult
    public func update<Model: PersistentModel>(
        _ type: Model.Type = Model.self, where predicate: Predicate<Model>?,
        _ assignments: ModelAssignment<Model>...
    ) throws -> Int {
        try check(Model.self)
        return try translatingChange { () throws(LarderError) in
            let changes = try change(where: predicate, assignments)
            let store = try objects.model.store(of: Model.entityName)
            guard let affected = try store.save(changes).affected.first else { return 0 }
            let registered = affected.identifiers.filter {
                objects.registeredObject(for: $0) != nil
            }
            _ = try objects.objects(for: registered)
            return Int(affected.count)
        }
    }

    private func change<Model: PersistentModel>(
        where predicate: Predicate<Model>?, _ assignments: [ModelAssignment<Model>]
    ) throws(LarderError) -> ChangeSet {
        var selection = ObjectSelection(Model.entityName, wantsIdentifiers: true)
        if let predicate {
            let bound = try BoundExpression(predicate)
            selection.predicate = .tree(bound.expression)
            selection.arguments = bound.arguments
        }
        var set: [PropertyAssignment] = []
        for assignment in assignments {
            set.append(try assignment.assignment(&selection.arguments))
        }
        return ChangeSet([.updateAll(selection, set: set)], author: author ?? "")
    }
}
