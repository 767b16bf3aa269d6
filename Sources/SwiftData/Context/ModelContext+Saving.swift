import Foundation
internal import LarderModel
internal import LarderObjects

extension ModelContext {
    /// Saves all changes as one transaction. Temporary identifiers become permanent.
    ///
    /// ``willSave`` is posted before it, and ``didSave`` after it, both on this thread.
    ///
    /// - Throws: ``SwiftDataError/modelValidationFailure`` with every rule that the changes break;
    ///   the context keeps them then. It is thrown for a value that cannot be encoded, for a
    ///   relationship to an unsaved model of another context or to a model of another store, and
    ///   for a change of a model whose configuration does not allow saving, too.
    public func save() throws {
        guard hasChanges else { return }
        NotificationCenter.default.post(name: Self.willSave, object: self)
        objects.setAuthor(author ?? "")
        let saved = try translatingChange { () throws(LarderError) in try objects.save() }
        objects.registerUndo()
        NotificationCenter.default.post(
            name: Self.didSave, object: self, userInfo: userInfo(of: saved))
        objects.announceChanges()
    }

    /// Runs a call that changes a store. The rules that the changes break have the names of the
    /// classes' properties.
    package func translatingChange<Result>(
        _ body: () throws(LarderError) -> Result
    ) throws -> Result {
        do {
            return try SwiftDataError.translating(body)
        } catch let error as SwiftDataError {
            throw error.naming(core.propertyName(of:_:))
        }
    }

    /// Under the keys of the enum are sets, and under their names arrays.
    private func userInfo(of saved: ObjectContext.Saved) -> [AnyHashable: Any] {
        var info: [AnyHashable: Any] = [:]
        let lists: [(NotificationKey, [StoredObject])] = [
            (.insertedIdentifiers, saved.inserted), (.updatedIdentifiers, saved.updated),
            (.deletedIdentifiers, saved.deleted),
        ]
        for (key, objects) in lists {
            let identifiers = objects.map { $0.identifier(entityName: "") }
            info[key] = Set(identifiers)
            info[key.rawValue] = identifiers
        }
        let tokens = core.historyTokens(of: saved)
        info[NotificationKey.historyTokens] = tokens
        info[NotificationKey.historyTokens.rawValue] = tokens
        return info
    }
}
