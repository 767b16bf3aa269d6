/// The stable error codes of the wire protocol and the command line.
///
/// The raw value is `ErrorReply.code` in `Proto/larder.proto` and never changes its meaning.
/// ``name`` is the form that `larder` prints. Each group of a hundred calls for a different
/// reaction of the caller.
public enum ErrorCode: UInt32, Sendable, Hashable, CaseIterable {
    // 1xx: the bytes or the order of messages are invalid.
    case malformedFrame = 100
    case frameTooLong = 101
    case handshakeRequired = 102
    case unsupportedVersion = 103
    case unknownMessage = 104
    case malformedMessage = 105

    // 2xx: an identifier, a token or a name does not refer to anything in this store.
    case malformedIdentifier = 200
    case foreignIdentifier = 201
    case unknownEntity = 202
    case objectNotFound = 203
    case malformedToken = 204
    case foreignToken = 205
    case futureToken = 206
    case tokenExpired = 207

    // 3xx: the data or the query is invalid.
    case unknownProperty = 300
    case wrongType = 301
    case malformedPredicate = 302
    case unsupported = 303
    case missingValue = 304
    case validationFailed = 305
    case uniquenessViolated = 306
    case deleteDenied = 307
    case invalidChangeSet = 308
    case arithmeticOverflow = 309
    case malformedSchema = 310
    case schemaMismatch = 311
    case malformedValue = 312
    /// Thrown by a client for a Swift predicate that it cannot translate; never sent by a server.
    case unsupportedPredicate = 313
    case idempotencyMismatch = 314
    case migrationRefused = 315

    // 4xx: another client changed the objects first.
    case versionConflict = 400
    case conditionFailed = 401

    // 5xx: a limit or a permission forbids the request.
    case resourceExhausted = 500
    case readOnly = 501
    case permissionDenied = 502

    // 6xx: the same request may succeed later.
    case timeout = 600
    case unavailable = 601
    case cancelled = 602
    case snapshotExpired = 603

    // 7xx: thrown by the client about its connection; never sent by a server.
    case connectionFailed = 700
    case indeterminate = 701

    // 8xx: the underlying storage failed.
    case storageFailed = 800
    case storageFull = 801
    case storeInUse = 802
    case notAStore = 803
    case storeTooNew = 804
    /// Thrown by a client and by `larder restore`; never sent by a server.
    case fileExists = 805

    /// The code in the form that users see: `OBJECT_NOT_FOUND` for ``objectNotFound``.
    public var name: String {
        "\(self)".reduce(into: "") { name, character in
            if character.isUppercase { name.append("_") }
            name.append(contentsOf: character.uppercased())
        }
    }
}
