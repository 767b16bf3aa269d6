#if PostgreSQL
import CPQ
import Dispatch
import Glibc
import Synchronization

/// A connection of libpq. The only file that uses libpq's pointers and memory.
///
/// It never waits: its user waits for the socket. It is used on one thread at a time. The handle is
/// freed with the object, and a result within the call that has got it.
final class Libpq {
    private let handle: OpaquePointer
    /// Replaced in libpq's own messages. Empty if there is none.
    private var password = ""

    enum Progress {
        case ready
        case waitsToRead
        case waitsToWrite
        case failed
    }

    /// The message that a connection received.
    enum Reply {
        /// No more results of the statement.
        case end
        case row([PostgresValue])
        /// The statement is complete. Rows that have arrived alone are not repeated.
        case complete(PostgresRows)
        /// The statement was skipped after an error.
        case skipped
        /// The pipeline is complete.
        case synchronized
        case failed(PostgresError)
    }

    /// Begins to connect.
    ///
    /// - Parameter settings: libpq's keywords and their values, of which later ones count. A
    ///   `dbname` may be an address with all of them.
    init(_ settings: [(keyword: String, value: String)]) throws(PostgresError) {
        let words = settings.map { strdup($0.keyword) }
        let values = settings.map { strdup($0.value) }
        defer { for text in words + values { free(text) } }
        let connection = PQconnectStartParams(
            words.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 1)
        guard let connection else { throw Self.noMemory }
        handle = connection
        // Only so do the errors of a connection that fails have their SQLSTATE.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        // Notices would be printed.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        password = setting("password")
    }

    deinit { PQfinish(handle) }

    private static let noMemory = PostgresError(.outOfMemory, "libpq has no memory")

    /// The keywords and values of an address; nil if it is malformed.
    static func settings(of address: String) -> [String: String]? {
        guard let options = PQconninfoParse(address, nil) else { return nil }
        defer { PQconninfoFree(options) }
        return settings(options)
    }

    private static func settings(
        _ options: UnsafeMutablePointer<PQconninfoOption>
    ) -> [String: String] {
        var settings: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                settings[String(cString: keyword)] = String(cString: value)
            }
            option += 1
        }
        return settings
    }

    /// A setting of the connection, whether from the address, a service, the environment or the
    /// password file.
    func setting(_ keyword: String) -> String {
        guard let options = PQconninfo(handle) else { return "" }
        defer { PQconninfoFree(options) }
        return Self.settings(options)[keyword] ?? ""
    }

    // MARK: - The state

    var socket: Int32 { PQsocket(handle) }

    var isBroken: Bool { PQstatus(handle) == CONNECTION_BAD }

    /// Whether the server wanted a password and there was none.
    var needsPassword: Bool { PQconnectionNeedsPassword(handle) == 1 }

    var serverVersion: Int { Int(PQserverVersion(handle)) }

    /// The process of the server that serves the connection.
    var serverProcess: Int32 { PQbackendPID(handle) }

    var isInTransaction: Bool { PQtransactionStatus(handle) != PQTRANS_IDLE }

    var isInFailedTransaction: Bool { PQtransactionStatus(handle) == PQTRANS_INERROR }

    func serverSetting(_ name: String) -> String {
        PQparameterStatus(handle, name).map { String(cString: $0) } ?? ""
    }

    /// libpq's last error: `FATAL:  28P01: password authentication failed …`, in several lines.
    var errorText: String {
        let text = String(cString: PQerrorMessage(handle))
        return password.isEmpty ? text : text.replacing(password, with: "***")
    }

    func canceller() -> PostgresCanceller { PostgresCanceller(Cancellation(handle)) }

    // MARK: - Connecting

    func connect() -> Progress {
        switch PQconnectPoll(handle) {
        case PGRES_POLLING_OK: .ready
        case PGRES_POLLING_READING: .waitsToRead
        case PGRES_POLLING_WRITING: .waitsToWrite
        default: .failed
        }
    }

    /// - Returns: Whether the connection is one that does not wait, and has a pipeline.
    func enterPipeline() -> Bool {
        password = setting("password")
        return PQsetnonblocking(handle, 1) == 0 && PQenterPipelineMode(handle) == 1
    }

    // MARK: - Sending

    func sendPreparation(
        _ text: String, named name: String, types: [PostgresType]
    ) throws(PostgresError) {
        let sent = PQsendPrepare(
            handle, name, text, Int32(clamping: types.count), types.map(\.rawValue))
        try check(sent)
    }

    /// Runs a prepared statement. The parameters and the rows are binary.
    func sendExecution(
        of name: String, _ parameters: [PostgresValue]
    ) throws(PostgresError) {
        try send(parameters) { values, lengths, formats in
            PQsendQueryPrepared(
                handle, name, Int32(clamping: values.count), values, lengths, formats, 1)
        }
    }

    /// Runs a statement without preparing it for another run.
    func sendQuery(
        _ text: String, _ parameters: [PostgresValue] = []
    ) throws(PostgresError) {
        let types = parameters.map(\.type.rawValue)
        try send(parameters) { values, lengths, formats in
            PQsendQueryParams(
                handle, text, Int32(clamping: values.count), types, values, lengths, formats, 1)
        }
    }

    private func send(
        _ parameters: [PostgresValue],
        _ call: (_ values: [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]) -> Int32
    ) throws(PostgresError) {
        var bytes: [UInt8] = []
        // Where each parameter begins; nil for null.
        var starts: [Int?] = []
        var lengths: [Int32] = []
        let formats = parameters.map { $0.isSentAsText ? 0 : 1 as Int32 }
        for parameter in parameters {
            let encoded = try parameter.encoded()
            let length = encoded?.count ?? 0
            starts.append(encoded == nil ? nil : bytes.count)
            lengths.append(Int32(clamping: length))
            bytes += encoded ?? []
            // libpq reads a text up to this byte. An empty parameter needs an address too.
            bytes.append(0)
        }
        let sent = bytes.withUnsafeBytes { memory in
            let base = memory.baseAddress?.assumingMemoryBound(to: CChar.self)
            let values = starts.map { start in start.flatMap { base?.advanced(by: $0) } }
            return call(values.map { $0 }, lengths, formats)
        }
        try check(sent)
    }

    func sendSynchronization() throws(PostgresError) { try check(PQpipelineSync(handle)) }

    private func check(_ sent: Int32) throws(PostgresError) {
        guard sent != 1 else { return }
        throw PostgresError(isBroken ? .connectionLost : .other, ErrorText(errorText).message)
    }

    /// - Returns: Whether everything that was sent has left.
    func flush() throws(PostgresError) -> Bool {
        let result = PQflush(handle)
        if result < 0 {
            // The reason may have arrived: it is read as a result.
            PQconsumeInput(handle)
            throw PostgresError(.connectionLost, ErrorText(errorText).message)
        }
        return result == 0
    }

    // MARK: - Receiving

    /// Reads what has arrived.
    ///
    /// - Returns: Whether the connection still exists.
    func receive() -> Bool { PQconsumeInput(handle) == 1 }

    /// Whether the next reply has not arrived yet.
    var isWaitingForReply: Bool { PQisBusy(handle) == 1 }

    /// Lets the results of the statement whose first reply is next arrive row by row, so that
    /// libpq does not collect them.
    func receiveSingleRows() { PQsetSingleRowMode(handle) }

    /// The next reply, which must have arrived.
    func reply() -> Reply {
        guard let result = PQgetResult(handle) else { return .end }
        defer { PQclear(result) }
        do throws(PostgresError) {
            switch PQresultStatus(result) {
            case PGRES_SINGLE_TUPLE: return .row(try row(0, of: result))
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
                return .complete(try rows(of: result))
            case PGRES_PIPELINE_SYNC: return .synchronized
            case PGRES_PIPELINE_ABORTED: return .skipped
            case PGRES_FATAL_ERROR: return .failed(error(of: result))
            default: return .failed(PostgresError(.connectionLost, "the server began a copy"))
            }
        } catch {
            return .failed(error)
        }
    }

    private func rows(of result: OpaquePointer) throws(PostgresError) -> PostgresRows {
        var rows = PostgresRows()
        rows.columns = (0..<PQnfields(result)).map { PostgresType(rawValue: PQftype(result, $0)) }
        for index in 0..<PQntuples(result) { rows.rows.append(try row(index, of: result)) }
        rows.affectedCount = Int(String(cString: PQcmdTuples(result))) ?? 0
        return rows
    }

    private func row(
        _ index: Int32, of result: OpaquePointer
    ) throws(PostgresError) -> [PostgresValue] {
        var values: [PostgresValue] = []
        let count = PQnfields(result)
        values.reserveCapacity(Int(count))
        for column in 0..<count {
            let type = PostgresType(rawValue: PQftype(result, column))
            guard PQgetisnull(result, index, column) == 0,
                let start = PQgetvalue(result, index, column)
            else {
                values.append(.null(type))
                continue
            }
            let memory = UnsafeRawBufferPointer(
                start: start, count: Int(PQgetlength(result, index, column)))
            values.append(try PostgresValue(Span(_unsafeBytes: memory), of: type))
        }
        return values
    }

    private func error(of result: OpaquePointer) -> PostgresError {
        let field = { (code: Character) in
            let text = PQresultErrorField(result, Int32(code.asciiValue ?? 0))
            return text.map { String(cString: $0) } ?? ""
        }
        let state = field("C")
        guard !state.isEmpty else {
            return PostgresError(.connectionLost, ErrorText(errorText).message)
        }
        return PostgresError(
            sqlState: state, field("M"), constraint: field("n"), table: field("t"))
    }
}

/// Asks a server to stop what a connection does. It may be used from any thread.
///
/// Safe to share: the libpq object is only read after it was made, as libpq's manual permits.
private final class Cancellation: @unchecked Sendable {
    private let handle: OpaquePointer?

    init(_ connection: OpaquePointer) { handle = PQgetCancel(connection) }

    deinit { PQfreeCancel(handle) }

    /// Connects to the server, which may take long if it is not reachable.
    func send() {
        guard let handle else { return }
        var message = [CChar](repeating: 0, count: 256)
        PQcancel(handle, &message, Int32(message.count))
    }
}

/// Stops the statements of a connection.
///
/// A request to stop is a connection of its own, and it is sent on a thread of its own, because
/// libpq waits for it without a limit.
package final class PostgresCanceller: Sendable {
    private struct State {
        /// Whether the connection runs a statement.
        var isRunning = false
        var requestsInFlight = 0
        var wasRequested = false
    }

    private let cancellation: Cancellation
    private let state = Mutex(State())

    fileprivate init(_ cancellation: Cancellation) { self.cancellation = cancellation }

    /// Asks the server to stop what the connection runs; nothing if it runs nothing. At most one
    /// request is under way.
    package func cancel() {
        let isNeeded = state.withLock { state in
            guard state.isRunning, state.requestsInFlight == 0 else { return false }
            state.requestsInFlight = 1
            state.wasRequested = true
            return true
        }
        guard isNeeded else { return }
        DispatchQueue.global().async { [self] in
            cancellation.send()
            state.withLock { $0.requestsInFlight = 0 }
        }
    }

    func begin() {
        state.withLock {
            $0.isRunning = true
            $0.wasRequested = false
        }
    }

    /// - Parameter wasStopped: Whether a statement ended because it was stopped.
    /// - Returns: Whether no request can stop a later statement.
    func end(wasStopped: Bool) -> Bool {
        state.withLock { state in
            state.isRunning = false
            return !state.wasRequested || (wasStopped && state.requestsInFlight == 0)
        }
    }
}
#endif
