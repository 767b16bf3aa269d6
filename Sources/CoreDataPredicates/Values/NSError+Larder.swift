package import Foundation
package import LarderModel

// The errors of the modules with Core Data's words are `NSError`s of the domain
// `NSCocoaErrorDomain` with Core Data's codes. The error of the store is the underlying one: its
// message names the property, the object, or the column of a format string.

extension NSError {
    /// - Parameters:
    ///   - code: Core Data's code; nil for that of the error.
    ///   - info: What Core Data's error has besides the sentence.
    package static func coreData(
        _ error: LarderError, code: Int? = nil, info: [String: Any] = [:]
    ) -> NSError {
        var all: [String: Any] = [
            NSLocalizedDescriptionKey: ([error.message] + error.problems).joined(separator: "\n"),
            NSUnderlyingErrorKey: error,
        ]
        if let hint = error.hint { all[NSLocalizedRecoverySuggestionErrorKey] = hint }
        all.merge(info) { _, new in new }
        return NSError(domain: NSCocoaErrorDomain, code: code ?? error.coreDataCode, userInfo: all)
    }
}

extension LarderError {
    /// Core Data's code for the error: that of a fetch, of a validation, of a conflict, or of a
    /// store that cannot be used.
    package var coreDataCode: Int {
        switch code {
        case .objectNotFound: 133_000
        case .versionConflict, .conditionFailed: 133_020
        case .uniquenessViolated: 133_021
        case .validationFailed, .invalidChangeSet: 1_550
        case .missingValue: 1_570
        case .deleteDenied: 1_600
        case .schemaMismatch, .migrationRefused: 134_100
        case .malformedSchema: 134_020
        case .tokenExpired: 134_301
        case .timeout: 134_090
        case .storageFailed, .storageFull, .storeInUse, .notAStore, .storeTooNew,
            .connectionFailed, .unavailable, .permissionDenied, .readOnly:
            134_080
        default: 134_060
        }
    }
}

/// Runs a call whose errors are those of Core Data.
package func translating<Result>(
    _ body: () throws(LarderError) -> Result
) throws -> Result {
    do throws(LarderError) {
        return try body()
    } catch {
        throw NSError.coreData(error)
    }
}
