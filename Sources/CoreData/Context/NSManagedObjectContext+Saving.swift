internal import CoreDataPredicates
public import Foundation
internal import LarderModel
internal import LarderObjects

extension NSManagedObjectContext {
    /// Saves all changes as one transaction in each store. Temporary identifiers become permanent.
    /// A context with a parent makes its changes changes of the parent instead.
    ///
    /// The hooks of the objects and the observers of the notifications are called on this thread.
    ///
    /// - Throws: an `NSError` with the reason; of several broken rules, its `userInfo` has one for
    ///   each under `NSDetailedErrorsKey`. The context keeps the changes then.
    public func save() throws {
        guard hasChanges else { return }
        if let owner { return try owner.save() }
        processPendingChanges()
        try prepareToSave()
        NotificationCenter.default.post(name: .NSManagedObjectContextWillSave, object: self)
        let objects = objects
        objects.setAuthor(transactionAuthor ?? "")
        objects.setConflictPolicy(mergePolicy.conflicts)
        let saved: ObjectContext.Saved
        do throws(LarderError) {
            saved = try objects.save()
        } catch {
            throw saveError(error)
        }
        objects.registerUndo()
        let lists: [(String, [NSManagedObject])] = [
            (NSInsertedObjectsKey, saved.inserted.map(managedObject)),
            (NSUpdatedObjectsKey, saved.updated.map(managedObject)),
            (NSDeletedObjectsKey, saved.deleted.map(managedObject)),
        ]
        for (_, changed) in lists { for object in changed { object.didSave() } }
        NotificationCenter.default.post(
            name: .NSManagedObjectContextDidSave, object: self,
            userInfo: Dictionary(
                uniqueKeysWithValues: lists.filter { !$0.1.isEmpty }.map { ($0.0, Set($0.1)) }))
        announceChanges()
        parent?.childDidSave()
    }

    /// Calls the hooks of the objects with changes, which may change others.
    private func prepareToSave() throws {
        var seen: Set<NSManagedObject> = []
        for _ in 0..<Self.hookRoundsMax {
            let changed = insertedObjects.union(updatedObjects).union(deletedObjects)
            let new = changed.subtracting(seen)
            if new.isEmpty { break }
            seen.formUnion(new)
            for object in new { object.willSave() }
        }
        processPendingChanges()
        try validate()
    }

    /// Checks all objects with changes.
    ///
    /// - Throws: the error of one; of several, an `NSError` with each of them.
    private func validate() throws {
        var errors: [any Error] = []
        func collect(_ body: () throws -> Void) { do { try body() } catch { errors.append(error) } }
        for object in insertedObjects { collect(object.validateForInsert) }
        for object in updatedObjects { collect(object.validateForUpdate) }
        for object in deletedObjects { collect(object.validateForDelete) }
        if errors.count == 1 { throw errors[0] }
        if let error = NSError.combined(errors.flatMap { ($0 as NSError).validationErrors }) {
            throw error
        }
    }

    private static var hookRoundsMax: Int { 100 }

    private func saveError(_ error: LarderError) -> NSError {
        let errors = error.details.map { violation in
            var info: [String: Any] = [:]
            if let name = violation.propertyNames.first { info[NSValidationKeyErrorKey] = name }
            if let object = violation.uri.flatMap(object(withURI:)) {
                info[NSValidationObjectErrorKey] = object
            }
            return NSError.coreData(
                LarderError(violation, hint: error.hint),
                code: violation.coreDataCode(isDate: isDate(violation)), info: info)
        }
        if errors.count == 1 { return errors[0] }
        guard errors.count > 1 else { return NSError.coreData(error) }
        return NSError.coreData(
            error, code: NSValidationMultipleErrorsError, info: [NSDetailedErrorsKey: errors])
    }

    /// Whether a broken rule is that of a date.
    private func isDate(_ violation: ChangeViolation) -> Bool {
        guard let entity = violation.entityName, let name = violation.propertyNames.first else {
            return false
        }
        let description = compiledModel?.descriptions[entity]
        return description?.attributesByName[name]?.attributeType == .dateAttributeType
    }

    private func object(withURI uri: String) -> NSManagedObject? {
        (try? PersistentIdentifier(uriRepresentation: uri))
            .flatMap { objects.registeredObject(for: $0) }.map(managedObject)
    }

    // MARK: - Changes of others

    /// Reads the objects again that another context has saved, as far as this one has them and has
    /// not changed them. Objects that it has deleted are gone, and those that it has inserted are
    /// announced as inserted.
    public func mergeChanges(fromContextDidSave notification: Notification) {
        merge(notification.userInfo ?? [:])
    }

    /// Reads objects again that were changed without a context, such as by a batch request.
    ///
    /// - Parameter changeNotificationData: Identifiers of objects, or their URIs, by
    ///   ``NSUpdatedObjectsKey``, ``NSInsertedObjectsKey`` and so on.
    public class func mergeChanges(
        fromRemoteContextSave changeNotificationData: [AnyHashable: Any],
        into contexts: [NSManagedObjectContext]
    ) {
        for context in contexts { context.merge(changeNotificationData) }
    }

    private func merge(_ info: [AnyHashable: Any]) {
        let objects = objects
        let inserted = [NSInsertedObjectsKey, NSInsertedObjectIDsKey].flatMap {
            identifiers(info[$0])
        }
        let updated = [NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, NSRefreshedObjectsKey].flatMap {
            identifiers(info[$0])
        }
        let deleted = [NSDeletedObjectsKey, NSDeletedObjectIDsKey].flatMap {
            identifiers(info[$0])
        }
        objects.locked {
            objects.applyCommitsOfOthers()
            for identifier in inserted + updated {
                guard let stored = objects.registeredObject(for: identifier) else { continue }
                objects.refresh(stored, mergesChanges: true)
            }
            objects.merge(inserts: inserted, deletions: deleted)
            objects.noteChanges(ofEntities: Set((inserted + updated + deleted).map(\.entityName)))
        }
        if contextQueue.isCurrent { announceChanges() } else { scheduleProcessing() }
    }

    /// The identifiers of a set or a list of objects, of their identifiers, or of their URIs.
    private func identifiers(_ value: Any?) -> [PersistentIdentifier] {
        let elements: [Any] =
            switch value {
            case let objects as Set<NSManagedObject>: Array(objects)
            case let identifiers as Set<NSManagedObjectID>: Array(identifiers)
            case let set as NSSet: set.allObjects
            case let list as [Any]: list
            default: []
            }
        return elements.compactMap { element in
            switch element {
            case let object as NSManagedObject: object.objectID.identifier
            case let identifier as NSManagedObjectID: identifier.identifier
            case let uri as URL:
                persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri)?.identifier
            default: nil
            }
        }
    }
}

extension ChangeViolation {
    /// Core Data's code for the broken rule.
    fileprivate func coreDataCode(isDate: Bool) -> Int? {
        switch rule {
        case .optional: NSValidationMissingMandatoryPropertyError
        case .minCount: NSValidationRelationshipLacksMinimumCountError
        case .maxCount: NSValidationRelationshipExceedsMaximumCountError
        case .deleteRule: NSValidationRelationshipDeniedDeleteError
        case .minimum: isDate ? NSValidationDateTooSoonError : NSValidationNumberTooSmallError
        case .maximum: isDate ? NSValidationDateTooLateError : NSValidationNumberTooLargeError
        case .minLength: NSValidationStringTooShortError
        case .maxLength: NSValidationStringTooLongError
        case .pattern: NSValidationStringPatternMatchingError
        case .unique: NSManagedObjectConstraintMergeError
        case .type, .version, .derived, .abstract, .condition, nil: nil
        }
    }
}
