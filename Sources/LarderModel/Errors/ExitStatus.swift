/// What Larder's programs end with: the numbers of sysexits.h where they fit, and a few small ones.
public enum ExitStatus: Int32, Sendable, CaseIterable {
    case done = 0
    case failed = 1
    case conflict = 3
    case notFound = 4
    case refused = 5
    case usage = 64
    case badData = 65
    case noServer = 69
    case storage = 74
    case temporary = 75
    case protocolMismatch = 76
    case interrupted = 130

    /// The one table from conditions to statuses.
    ///
    /// A write whose outcome is unknown is `failed` and not `temporary`: a script must look before
    /// it tries again.
    public init(_ code: ErrorCode) {
        self =
            switch code {
            case .malformedFrame, .handshakeRequired, .unsupportedVersion, .unknownMessage,
                .malformedMessage:
                .protocolMismatch
            case .foreignIdentifier, .unknownEntity, .objectNotFound: .notFound
            case .malformedIdentifier, .unknownProperty, .wrongType, .malformedPredicate,
                .unsupported, .missingValue, .validationFailed, .uniquenessViolated, .deleteDenied,
                .invalidChangeSet, .arithmeticOverflow, .malformedSchema, .schemaMismatch,
                .malformedValue, .unsupportedPredicate, .idempotencyMismatch:
                .badData
            case .versionConflict: .conflict
            case .frameTooLong, .resourceExhausted, .readOnly, .permissionDenied: .refused
            case .timeout, .unavailable, .snapshotExpired: .temporary
            case .cancelled, .indeterminate: .failed
            case .connectionFailed: .noServer
            case .storageFailed, .storageFull, .storeInUse, .notAStore, .storeTooNew: .storage
            }
    }
}
