#if PostgreSQL
import Glibc
import LarderQuery

extension PostgresConnection {
    /// Runs one statement, in one round trip.
    ///
    /// - Throws: the error of the statement, or of the connection.
    @discardableResult package func run(
        _ statement: PostgresStatement, deadline: ContinuousClock.Instant,
        stoppedBy cancellation: ReadCancellation? = nil
    ) throws(PostgresError) -> PostgresRows {
        try run([statement], deadline: deadline, stoppedBy: cancellation)[0].get()
    }

    /// Runs statements in a pipeline, in one round trip.
    ///
    /// They are one transaction, unless one is open or some of them begin and commit one. After a
    /// statement that fails, the following ones are not run (`notRun`), and what the pipeline has
    /// changed since the last COMMIT in it is rolled back.
    ///
    /// - Parameter cancellation: Stops them as their deadline does, soon after it was cancelled.
    /// - Returns: the result of each statement.
    /// - Throws: `connectionLost`, `deadlinePassed`, or `tooLarge` for results that exceed
    ///   ``resultBytesMax``; which statements were run is unknown then. An error of a parameter is
    ///   thrown before anything is run.
    package func run(
        _ statements: [PostgresStatement], deadline: ContinuousClock.Instant,
        stoppedBy cancellation: ReadCancellation? = nil
    ) throws(PostgresError) -> [Result<PostgresRows, PostgresError>] {
        guard isUsable else { throw Self.lost }
        for statement in statements { try Self.check(statement.parameters) }
        var pipeline = Pipeline(statements, deadline: deadline, cancellation)
        canceller.begin()
        do throws(PostgresError) {
            try run(&pipeline, statements)
        } catch {
            isUsable = false
            _ = canceller.end(wasStopped: false)
            throw error
        }
        if !canceller.end(wasStopped: pipeline.wasStopped) { isUsable = false }
        if pipeline.isTooLarge {
            throw PostgresError(
                .tooLarge, "the result has more than \(Self.resultBytesMax >> 20) MiB")
        }
        // Statements that were complete before they could be stopped have their results.
        if pipeline.isStopping, pipeline.wasStopped { throw Self.late }
        return pipeline.results.map { $0 ?? .failure(Self.lost) }
    }

    /// About the memory for the results of one call.
    package static let resultBytesMax = 256 << 20
    /// About the memory of the parameters of a statement. The server's messages have twice as much.
    package static let parameterBytesMax = 512 << 20

    private static func check(_ parameters: [PostgresValue]) throws(PostgresError) {
        var bytesLeft = parameterBytesMax
        for parameter in parameters {
            bytesLeft -= parameter.byteCount
            guard bytesLeft >= 0 else {
                throw PostgresError(
                    .tooLarge,
                    "the parameters of a statement have more than \(parameterBytesMax >> 20) MiB")
            }
            try parameter.check()
        }
    }

    private static let late = PostgresError(
        .deadlinePassed, "the database did not answer within the time allowed")
    private static let lost = PostgresError(.connectionLost, "the connection was closed")

    /// The state of one call: what is awaited, and the results so far.
    private struct Pipeline {
        enum Awaited {
            case release(name: String)
            case preparation(PreparedNames.Shape)
            case execution(Int, PreparedNames.Shape, returnsFewRows: Bool)
            case synchronization
        }

        var awaited: [Awaited] = []
        var awaitedStart = 0
        /// Whether the first reply of the first one has not arrived.
        var isFirstReply = true
        var results: [Result<PostgresRows, PostgresError>?]
        var rows = PostgresRows()
        var bytesLeft = PostgresConnection.resultBytesMax
        var deadline: ContinuousClock.Instant
        let cancellation: ReadCancellation?
        var isStopping = false
        var isTooLarge = false
        var wasStopped = false
        /// The error of a preparation, which is that of the statement after it.
        var preparationError: PostgresError?

        init(
            _ statements: [PostgresStatement], deadline: ContinuousClock.Instant,
            _ cancellation: ReadCancellation?
        ) {
            results = Array(repeating: nil, count: statements.count)
            self.deadline = deadline
            self.cancellation = cancellation
        }

        /// Whether it is to be stopped although its deadline has not passed.
        var isCancelled: Bool { !isStopping && cancellation?.isCancelled == true }

        /// When it looks at the cancellation again, or at the latest its deadline.
        var nextLook: ContinuousClock.Instant {
            guard cancellation != nil, !isStopping else { return deadline }
            return min(deadline, .now + PostgresConnection.cancellationInterval)
        }

        var next: Awaited? { awaitedStart < awaited.count ? awaited[awaitedStart] : nil }
    }

    private func run(
        _ pipeline: inout Pipeline, _ statements: [PostgresStatement]
    ) throws(PostgresError) {
        let mayRelease = !libpq.isInFailedTransaction
        var unsentBytes = 0
        for (index, statement) in statements.enumerated() {
            unsentBytes += try send(statement, index, &pipeline, releases: mayRelease)
            guard unsentBytes >= Self.flushedBytesMin else { continue }
            unsentBytes = 0
            while try !libpq.flush() { try exchange(&pipeline) }
        }
        try libpq.sendSynchronization()
        pipeline.awaited.append(.synchronization)
        while pipeline.next != nil {
            if try libpq.flush(), try takeReplies(&pipeline) { continue }
            try exchange(&pipeline)
        }
    }

    /// Several statements go in one packet of about this size.
    private static let flushedBytesMin = 16 << 10

    /// - Returns: About the bytes that it has added to what is to be sent.
    private func send(
        _ statement: PostgresStatement, _ index: Int, _ pipeline: inout Pipeline, releases: Bool
    ) throws(PostgresError) -> Int {
        let shape = statement.shape
        let execution = Pipeline.Awaited.execution(
            index, shape, returnsFewRows: statement.returnsFewRows)
        var byteCount = 100 + statement.parameters.reduce(0) { $0 + $1.byteCount }
        guard statement.text.utf8.count <= Self.preparedBytesMax else {
            try libpq.sendQuery(statement.text, statement.parameters)
            pipeline.awaited.append(execution)
            return byteCount + statement.text.utf8.count
        }
        let (name, steps) = names.use(shape, releases: releases)
        for step in steps {
            switch step {
            case .release(let name):
                try libpq.sendQuery("DEALLOCATE \(name)")
                pipeline.awaited.append(.release(name: name))
            case .prepare:
                try libpq.sendPreparation(shape.text, named: name, types: shape.types)
                pipeline.awaited.append(.preparation(shape))
                byteCount += shape.text.utf8.count
            }
        }
        try libpq.sendExecution(of: name, statement.parameters)
        pipeline.awaited.append(execution)
        return byteCount
    }

    /// Waits for the socket, and takes the replies that have arrived. After the deadline it asks
    /// the server to stop.
    private func exchange(_ pipeline: inout Pipeline) throws(PostgresError) {
        let events = try libpq.flush() ? POLLIN : POLLIN | POLLOUT
        if pipeline.isCancelled { return try stop(&pipeline) }
        guard Self.wait(for: events, on: libpq.socket, until: pipeline.nextLook) else {
            if pipeline.deadline <= .now { try stop(&pipeline) }
            return
        }
        // After the end of the connection, its last replies are still read.
        let exists = libpq.receive()
        let hasTaken = try takeReplies(&pipeline)
        if !exists, !hasTaken {
            throw PostgresError(.connectionLost, ErrorText(libpq.errorText).message)
        }
    }

    private func stop(_ pipeline: inout Pipeline) throws(PostgresError) {
        guard !pipeline.isStopping else {
            throw Self.late
        }
        pipeline.isStopping = true
        pipeline.deadline = .now + Self.stopTimeMax
        canceller.cancel()
    }

    /// - Returns: Whether there was a reply.
    private func takeReplies(_ pipeline: inout Pipeline) throws(PostgresError) -> Bool {
        var hasTaken = false
        while let next = pipeline.next {
            if pipeline.isFirstReply, case .execution(_, _, false) = next {
                libpq.receiveSingleRows()
            }
            pipeline.isFirstReply = false
            guard !libpq.isWaitingForReply else { return hasTaken }
            hasTaken = true
            try take(libpq.reply(), of: next, &pipeline)
        }
        return hasTaken
    }

    private func take(
        _ reply: Libpq.Reply, of awaited: Pipeline.Awaited, _ pipeline: inout Pipeline
    ) throws(PostgresError) {
        switch (reply, awaited) {
        case (.end, .synchronization): throw Self.lost
        case (.end, _), (.synchronized, .synchronization):
            pipeline.awaitedStart += 1
            pipeline.isFirstReply = true
        // The rest of a result of which a row could not be read.
        case (.row, .execution(let index, _, _)) where pipeline.results[index] != nil,
            (.complete, .execution(let index, _, _)) where pipeline.results[index] != nil:
            break
        case (.row(let row), _): try take(row, &pipeline)
        case (.complete(let last), .execution(let index, _, _)):
            for row in last.rows { try take(row, &pipeline) }
            pipeline.rows.columns = last.columns
            pipeline.rows.affectedCount = last.affectedCount
            pipeline.results[index] = .success(pipeline.rows)
            pipeline.rows = PostgresRows()
        case (.complete, _): break
        case (.skipped, _): fail(awaited, Self.notRun, &pipeline)
        case (.failed(let error), _):
            if error.condition == .connectionLost { throw error }
            if error.condition == .cancelled { pipeline.wasStopped = true }
            fail(awaited, error, &pipeline)
        case (.synchronized, _):
            throw PostgresError(.unexpectedReply, "a statement has no result")
        }
    }

    private static let notSupported = "0A000"
    private static let notRun = PostgresError(.notRun, "an earlier statement failed")

    private func take(
        _ row: [PostgresValue], _ pipeline: inout Pipeline
    ) throws(PostgresError) {
        guard !pipeline.isStopping else { return }
        pipeline.bytesLeft -= row.reduce(0) { $0 + $1.byteCount }
        if pipeline.bytesLeft < 0 {
            pipeline.isTooLarge = true
            pipeline.rows.rows = []
            try stop(&pipeline)
        } else {
            pipeline.rows.rows.append(row)
        }
    }

    private func fail(
        _ awaited: Pipeline.Awaited, _ error: PostgresError, _ pipeline: inout Pipeline
    ) {
        switch awaited {
        case .release(let name): names.keepUnused(name)
        case .preparation(let shape):
            names.remove(shape)
            if error.condition != .notRun { pipeline.preparationError = error }
        case .execution(let index, let shape, _):
            // "cached plan must not change result type" has no code of its own.
            if error.sqlState == Self.notSupported { names.renew(shape) }
            pipeline.results[index] = .failure(pipeline.preparationError ?? error)
            pipeline.preparationError = nil
            pipeline.rows = PostgresRows()
        case .synchronization: break
        }
    }
}

extension PostgresValue {
    /// - Throws: the error of a value that cannot be sent.
    fileprivate func check() throws(PostgresError) {
        switch self {
        case .numeric, .uuid: _ = try encoded()
        default: break
        }
    }

    /// About the memory that it takes.
    var byteCount: Int {
        let inner =
            switch self {
            case .null, .bool, .integer, .real, .double, .timestamp: 0
            case .numeric(let text), .text(let text), .json(let text), .inferredText(let text):
                text.utf8.count
            case .bytes(let bytes), .uuid(let bytes), .inferredBytes(let bytes): bytes.count
            case .integers(let integers): 8 * integers.count
            }
        return MemoryLayout<PostgresValue>.stride + inner
    }
}
#endif
