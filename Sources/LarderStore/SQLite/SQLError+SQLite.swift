import CSQLite
import Glibc
import LarderModel
import LarderSQL

// SQLite's errors, and their texts for clients. No code outside of this folder sees SQLite's result
// codes.
extension SQLError {
    /// The error that a call on this handle has just returned.
    init(_ handle: OpaquePointer, _ result: Int32, sql: String? = nil) {
        // SQLite keeps the system's error of a failed statement, but not of a failed commit. Then
        // `errno` still has it, because no later call of SQLite's has failed.
        let lastFailure = errno
        let extended = sqlite3_extended_errcode(handle)
        let recorded = sqlite3_system_errno(handle)
        let message = String(cString: sqlite3_errmsg(handle))
        self.init(
            Condition(extended & 0xff == result & 0xff ? extended : result, message), message,
            sql: sql,
            systemError: recorded == 0 && result & 0xff == SQLITE_IOERR ? lastFailure : recorded)
    }
}

extension SQLError.Condition {
    /// - Parameter result: A result code of SQLite, extended or not.
    init(_ result: Int32, _ message: String) {
        switch result & 0xff {
        case SQLITE_ERROR:
            // SQLite has no result code for this.
            let isTooDeep =
                message.hasPrefix("parser stack overflow")
                || message.hasPrefix("Expression tree is too large")
            self = isTooDeep ? .nestedTooDeep : .statement
        case SQLITE_INTERRUPT: self = .interrupted
        // SQLITE_CONSTRAINT_UNIQUE is a macro that Swift does not import.
        case SQLITE_CONSTRAINT:
            self = result == SQLITE_CONSTRAINT | 8 << 8 ? .uniquenessViolated : .constraintViolated
        case SQLITE_MISMATCH, SQLITE_RANGE: self = .mismatch
        case SQLITE_TOOBIG: self = .tooLarge
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: self = .busy
        case SQLITE_FULL: self = .full
        case SQLITE_IOERR: self = .inputOutput
        case SQLITE_CANTOPEN: self = .cannotOpen
        case SQLITE_PERM: self = .permissionDenied
        case SQLITE_READONLY: self = .readOnly
        case SQLITE_CORRUPT: self = .corrupt
        case SQLITE_NOTADB: self = .notADatabase
        case SQLITE_NOMEM: self = .outOfMemory
        default: self = .other
        }
    }
}

extension SQLError {
    /// The error that callers of the store see.
    var larderError: LarderError {
        switch condition {
        case .full: .storageFull
        case .inputOutput where SQLError.spaceErrors.contains(systemError): .storageFull
        case .corrupt:
            LarderError(
                .storageFailed, "the store file is damaged (\(message))",
                hint: "restore it from a backup")
        case .fileChanged(let change): change
        case .notADatabase: LarderError(.notAStore, "the file is not a Larder store")
        case .busy:
            LarderError(
                .unavailable, "the store waited too long for a lock of its own", hint: "try again")
        case .tooLarge:
            LarderError(.resourceExhausted, "a value or a statement is larger than SQLite allows")
        case .outOfMemory: LarderError(.resourceExhausted, "the database ran out of memory")
        case .interrupted: LarderError(.cancelled, "the request was stopped")
        case .readOnly: LarderError(.readOnly, "the store cannot be written")
        case .permissionDenied:
            LarderError(.permissionDenied, "the store file may not be opened")
        case .cannotOpen where systemError == EACCES || systemError == EPERM:
            LarderError(.permissionDenied, "the store file may not be opened")
        case .cannotOpen, .inputOutput:
            LarderError(.storageFailed, "the store file cannot be read or written\(systemReason)")
        case .nestedTooDeep, .statement, .function, .uniquenessViolated, .constraintViolated,
            .mismatch, .other:
            LarderError(.storageFailed, "the database failed: \(message)\(statementText)")
        }
    }

    /// The system's errors that mean that there is no space left for this file.
    private static let spaceErrors: Set<Int32> = [ENOSPC, EDQUOT, EFBIG]

    private var systemReason: String {
        systemError == 0 ? " (\(message))" : " (\(SystemError(code: systemError).text))"
    }

    private var statementText: String { sql.map { " in \($0)" } ?? "" }
}

extension LarderError {
    static let storageFull = LarderError(
        .storageFull, "there is no room left for the store",
        hint: "free space, or raise the limit of the file's size; then try again")
}
