import LarderModel

/// The exit statuses of `larder`: those of sysexits.h where one fits, and a few small numbers.
///
/// `docs/larder.md` documents them.
enum ExitStatus: Int32 {
    case success = 0
    case failure = 1
    case conflict = 3
    case notFound = 4
    case refused = 5
    case usage = 64
    case dataError = 65
    case noServer = 69
    case inputOutputError = 74
    case temporaryFailure = 75
    case protocolError = 76

    /// The status for an error.
    ///
    /// A write whose outcome is unknown is `failure`, not `temporaryFailure`: a script must check
    /// the store before it tries again.
    init(_ code: ErrorCode) {
        self =
            switch code {
            case .malformedFrame, .handshakeRequired, .unsupportedVersion, .unknownMessage,
                .malformedMessage:
                .protocolError
            case .foreignIdentifier, .unknownEntity, .objectNotFound, .foreignToken, .futureToken,
                .tokenExpired:
                .notFound
            case .malformedIdentifier, .malformedToken, .unknownProperty, .wrongType,
                .malformedPredicate,
                .unsupported, .missingValue, .validationFailed, .uniquenessViolated, .deleteDenied,
                .invalidChangeSet, .arithmeticOverflow, .malformedSchema, .schemaMismatch,
                .malformedValue, .unsupportedPredicate, .idempotencyMismatch, .migrationRefused:
                .dataError
            case .versionConflict, .conditionFailed: .conflict
            case .frameTooLong, .resourceExhausted, .readOnly, .permissionDenied, .fileExists:
                .refused
            case .timeout, .unavailable, .snapshotExpired: .temporaryFailure
            case .cancelled, .indeterminate: .failure
            case .connectionFailed: .noServer
            case .storageFailed, .storageFull, .storeInUse, .notAStore, .storeTooNew:
                .inputOutputError
            }
    }
}
