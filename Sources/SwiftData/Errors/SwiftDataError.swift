public import Foundation
package import LarderModel

/// An error of the object layer. Two errors are equal if they are the same case; ``description``
/// says more of the one at hand.
public struct SwiftDataError: LocalizedError, Hashable, CustomStringConvertible, Sendable {
    private enum Case: String, Hashable, Sendable {
        case includePendingChangesWithBatchSize, unsupportedPredicate, unsupportedKeyPath
        case sortingPendingChangesWithIdentifiers, unsupportedSortDescriptor
        case duplicateConfiguration, configurationFileNameTooLong
        case configurationFileNameContainsInvalidCharacters
        case configurationSchemaNotFoundInContainerSchema, loadIssueModelContainer
        case modelValidationFailure, missingModelContext, backwardMigration, unknownSchema
        case historyTokenExpired, invalidTransactionFetchRequest, unknownDataStoreSchema
    }

    private let kind: Case
    /// A sentence: the fault, where it is, and what to do.
    let explanation: String
    /// The rules that a rejected save breaks, one by one.
    package private(set) var violations: [ChangeViolation] = []
    /// The error of the store, with its code and its hint, that became this one; nil for an error
    /// that a context or a container has found itself. Errors of the store without a case here,
    /// such as that of a full disk, are thrown as they are.
    public private(set) var underlyingError: (any Error)?

    private init(_ kind: Case, _ explanation: String) {
        self.kind = kind
        self.explanation = explanation
    }

    public static func == (left: Self, right: Self) -> Bool { left.kind == right.kind }
    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

    public static func ~= (pattern: SwiftDataError, error: any Error) -> Bool {
        pattern == error as? SwiftDataError
    }

    public var description: String { "\(kind.rawValue): \(explanation)" }
    /// The description, for programs that print `localizedDescription`.
    public var errorDescription: String? { description }

    /// The case with the sentence for the error at hand.
    func explained(_ explanation: String) -> SwiftDataError {
        SwiftDataError(kind, explanation)
    }

    public static let includePendingChangesWithBatchSize = SwiftDataError(
        .includePendingChangesWithBatchSize,
        "a fetch in batches cannot include pending changes; set includePendingChanges to false")
    public static let unsupportedPredicate = SwiftDataError(
        .unsupportedPredicate, "the store cannot evaluate the predicate")
    public static let unsupportedKeyPath = SwiftDataError(
        .unsupportedKeyPath, "the schema has no property at the key path")
    public static let sortingPendingChangesWithIdentifiers = SwiftDataError(
        .sortingPendingChangesWithIdentifiers,
        "a fetch of identifiers cannot sort pending changes; save them first")
    public static let unsupportedSortDescriptor = SwiftDataError(
        .unsupportedSortDescriptor, "the store cannot sort by the descriptor")
    public static let duplicateConfiguration = SwiftDataError(
        .duplicateConfiguration, "two configurations have the same place")
    public static let configurationFileNameTooLong = SwiftDataError(
        .configurationFileNameTooLong, "the name of the store's file is too long")
    public static let configurationFileNameContainsInvalidCharacters = SwiftDataError(
        .configurationFileNameContainsInvalidCharacters,
        "the name of a configuration cannot be the name of a file")
    public static let configurationSchemaNotFoundInContainerSchema = SwiftDataError(
        .configurationSchemaNotFoundInContainerSchema,
        "the container's schema does not have an entity of a configuration's schema")
    public static let loadIssueModelContainer = SwiftDataError(
        .loadIssueModelContainer, "the store cannot be opened")
    public static let modelValidationFailure = SwiftDataError(
        .modelValidationFailure, "the changes break a rule of the schema")
    public static let missingModelContext = SwiftDataError(
        .missingModelContext, "the model has no context")
    public static let backwardMigration = SwiftDataError(
        .backwardMigration, "the migration plan leads back to a version from which it has come")
    public static let unknownSchema = SwiftDataError(
        .unknownSchema, "the store has a schema that the migration plan does not have")
    public static let historyTokenExpired = SwiftDataError(
        .historyTokenExpired, "the history after the token has been deleted")
    public static let invalidTransactionFetchRequest = SwiftDataError(
        .invalidTransactionFetchRequest, "the history cannot be fetched so")
    public static let unknownDataStoreSchema = SwiftDataError(
        .unknownDataStoreSchema, "the data store does not have the schema")
}

extension SwiftDataError {
    /// Runs a call of the store and throws its errors with the case of this module, if there is
    /// one. Other errors are thrown as they are.
    package static func translating<Result>(
        _ body: () throws(LarderError) -> Result
    ) throws -> Result {
        do throws(LarderError) {
            return try body()
        } catch {
            throw translated(error)
        }
    }

    static func translated(_ error: LarderError) -> any Error {
        if let thrown = StoreFailure.original(of: error) { return thrown }
        let known: SwiftDataError?
        switch error.code {
        // With the values of changes that a store has refused.
        case .wrongType where !error.details.isEmpty: known = modelValidationFailure
        case .malformedValue where !error.details.isEmpty: known = modelValidationFailure
        case .unsupportedPredicate, .malformedPredicate, .wrongType: known = unsupportedPredicate
        case .unknownProperty: known = unsupportedKeyPath
        case .validationFailed, .missingValue, .uniquenessViolated, .deleteDenied, .readOnly:
            known = modelValidationFailure
        case .tokenExpired: known = historyTokenExpired
        case .schemaMismatch, .migrationRefused, .notAStore, .storeTooNew, .storeInUse:
            known = loadIssueModelContainer
        default: known = nil
        }
        guard var translated = known?.explained(error.description) else { return error }
        translated.violations = error.details
        translated.underlyingError = error
        return translated
    }
}

extension SwiftDataError {
    /// The error with the names of properties as the classes have them, instead of the store's.
    func naming(_ name: (_ entityName: String, _ storeName: String) -> String) -> SwiftDataError {
        var error = self
        for (index, violation) in violations.enumerated() {
            guard let entityName = violation.entityName else { continue }
            error.violations[index].propertyNames = violation.propertyNames.map {
                name(entityName, $0)
            }
        }
        return error
    }
}
