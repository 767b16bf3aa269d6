import CSQLite
import Glibc
import LarderModel

/// What SQLite reported. It stays within the store; ``larderError`` is the border.
struct SQLiteError: Error, Hashable, Sendable {
    /// The extended result code.
    var extendedCode: Int32
    /// SQLite's own words; they hold names and SQL, never bound values.
    var message: String
    /// The statement, for the report of a bug.
    var sql: String?
    /// `errno` of the failed system call, or 0.
    var systemError: Int32 = 0

    /// Whether a UNIQUE index refused a row; SQLITE_CONSTRAINT_UNIQUE is a macro of two.
    var isOfUniqueness: Bool { extendedCode == SQLITE_CONSTRAINT | 8 << 8 }

    /// The primary result code.
    var code: Int32 { extendedCode & 0xff }
}

extension SQLiteError {
    /// The one table from SQLite's results to the conditions that callers see.
    var larderError: LarderError {
        switch code {
        case SQLITE_FULL: LarderError.storageFull
        case SQLITE_IOERR where SQLiteError.spaceErrors.contains(systemError):
            LarderError.storageFull
        case SQLITE_CORRUPT:
            LarderError(
                .storageFailed, "the store file is damaged (\(message))",
                hint: "restore it from a backup")
        case SQLITE_NOTADB: LarderError(.notAStore, "the file is not a Larder store")
        case SQLITE_BUSY, SQLITE_LOCKED:
            LarderError(.storeInUse, "the store is held by another process")
        case SQLITE_TOOBIG:
            LarderError(.resourceExhausted, "a value or a statement is larger than SQLite allows")
        case SQLITE_NOMEM: LarderError(.resourceExhausted, "the database ran out of memory")
        case SQLITE_INTERRUPT: LarderError(.cancelled, "the request was stopped")
        case SQLITE_READONLY: LarderError(.readOnly, "the store cannot be written")
        case SQLITE_PERM: LarderError(.permissionDenied, "the store file may not be opened")
        case SQLITE_CANTOPEN where systemError == EACCES || systemError == EPERM:
            LarderError(.permissionDenied, "the store file may not be opened")
        case SQLITE_CANTOPEN, SQLITE_IOERR:
            LarderError(.storageFailed, "the store file cannot be read or written\(systemReason)")
        default:
            LarderError(.storageFailed, "the database failed: \(message)\(statementText)")
        }
    }

    /// The system's reasons that mean: no more room for this file.
    private static let spaceErrors: Set<Int32> = [ENOSPC, EDQUOT, EFBIG]

    private var systemReason: String {
        systemError == 0 ? " (\(message))" : " (\(String(cString: strerror(systemError))))"
    }

    private var statementText: String { sql.map { " in \($0)" } ?? "" }
}

extension SQLiteError {
    /// What failed. The raw values are SQLite's primary result codes.
    enum Condition: Int32 {
        /// The statement is wrong, or a function ended it.
        case statement = 1
        case busy = 5
        /// The statement was stopped: by its budget, or by a function.
        case interrupted = 9
        /// A system call failed.
        case inputOutput = 10
        case corrupt = 11
        /// A value or a statement is larger than SQLite's limit.
        case tooLarge = 18
        case constraintViolated = 19
        case mismatch = 20
        case range = 25
        case notADatabase = 26
        case other = -1
    }

    var condition: Condition { Condition(rawValue: code) ?? .other }

    init(_ condition: Condition, _ message: String) {
        self.init(extendedCode: condition.rawValue, message: message)
    }

    /// Whether the error concerns its statement alone and says nothing about the storage.
    var concernsStatementOnly: Bool {
        switch condition {
        case .statement, .tooLarge, .constraintViolated, .mismatch, .range: true
        case .busy, .interrupted, .inputOutput, .corrupt, .notADatabase, .other: false
        }
    }
}

extension LarderError {
    static let storageFull = LarderError(
        .storageFull, "there is no room left for the store",
        hint: "free space, or raise the limit of the file's size; then try again")
}
