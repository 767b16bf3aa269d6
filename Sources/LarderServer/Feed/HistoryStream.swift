import LarderModel
import LarderQuery
import LarderWire
import NIOCore

/// The reply to a request for the history: page after page, and then, if it follows the history,
/// each new transaction.
///
/// It belongs to its connection's event loop. Pages are read on the pool, one at a time and only
/// while the socket is writable and the client has credit left. Between two pages it has no reader
/// and no snapshot: it is a position in the history. New transactions come from ``LoopFeed``.
final class HistoryStream: OpenRequest {
    private enum Phase {
        case reading
        /// The client or its socket is not ready for the next page.
        case paused
        /// Everything has been sent; ``LoopFeed`` has the stream.
        case current
        case ended
    }

    /// The report of a job of the pool.
    private enum Outcome: Sendable {
        case page(HistoryPage, HistoryPageRead.Checked, EncodableReply)
        case failed(LarderError)
    }

    let requestID: UInt64
    /// The memory that the request takes.
    let bytes: Int
    private let request: HistoryRequest
    private let services: ConnectionServices
    private let readers: ReaderSource
    private unowned let connection: ConnectionHandler
    private let eventLoop: any EventLoop
    private let feed: LoopFeed
    /// When a request that does not follow the history must have been answered.
    private let deadline: ContinuousClock.Instant
    private var phase = Phase.reading
    /// nil until the first page has been read.
    private var checked: HistoryPageRead.Checked?
    /// Where the next page begins; nil for the first one.
    private var position: HistoryPosition?
    /// The transactions that were sent completely.
    private var sentCount = 0
    /// Whether a part of the transaction at `position` was sent.
    private var hasSentPart = false
    /// The number of replies that the client still accepts; nil is unlimited.
    private var credit: UInt32?
    private var timer: Scheduled<Void>?
    /// Stops the read of the page that is being read.
    private var cancellation = ReadCancellation()
    /// Whether the client knows that it has everything.
    private var hasReportedCurrent = false
    /// Where the client knows that the stream is.
    private var reportedNumber: Int64 = 0

    /// - Parameters:
    ///   - time: The time for all pages of a request that does not follow the history.
    ///   - bytes: The memory that the request takes.
    init(
        requestID: UInt64, _ request: HistoryRequest, time: Duration, bytes: Int,
        readers: ReaderSource, connection: ConnectionHandler, eventLoop: any EventLoop
    ) {
        self.requestID = requestID
        self.request = request
        self.readers = readers
        self.bytes = bytes
        self.connection = connection
        self.eventLoop = eventLoop
        services = connection.services
        feed = connection.services.loopFeed
        deadline = .now.advanced(by: time)
        credit = request.credit == 0 ? nil : request.credit
        if request.follows {
            feed.open()
            return
        }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        timer = eventLoop.scheduleTask(in: TimeAmount(time)) {
            bound.value.finish(
                .failed(LarderError(.timeout, "the history was not read in time")))
        }
    }

    var follows: Bool { request.follows }

    var kind: HistoryPageRead.Kind? { checked?.kind }

    /// Whether the stream reads the objects that new transactions have changed, or which of them
    /// the user may see, and so reads these by itself.
    var readsObjects: Bool {
        !request.objects.isEmpty || VisibleHistory(services.view) != nil
    }

    /// The last transaction that was sent or not selected.
    var sentNumber: Int64 { (position?.number ?? 1) - 1 }

    func start() { readPage() }

    // MARK: The client

    func grant(_ replies: UInt32) {
        guard let credit else { return }
        self.credit = credit.addingClamped(replies)
        resume()
    }

    /// Continues if possible. Called when the socket or the client may have become ready.
    func resume() {
        guard case .paused = phase, isClientReady else { return }
        readPage()
    }

    private var isClientReady: Bool { connection.isWritable && credit != 0 }

    func cancel() {
        fail(LarderError(.cancelled, "the request was cancelled by its client"))
    }

    func connectionDrains(_ reason: LarderError) {
        if follows { fail(reason) }
    }

    func inputEnded() {
        if follows { fail(LarderError(.cancelled, "the client has ended its input")) }
    }

    func fail(_ error: LarderError) { finish(.failed(error)) }

    func abandon() {
        if case .ended = phase { return }
        phase = .ended
        timer?.cancel()
        cancellation.cancel()
        if follows {
            feed.close(self)
            services.registry.followerEnded(of: connection.user)
        }
    }

    private func finish(_ reply: Reply) {
        if case .ended = phase { return }
        abandon()
        connection.streamEnded(requestID, .reply(reply))
    }

    private func send(_ reply: EncodableReply) {
        if let credit, credit > 0 { self.credit = credit - 1 }
        connection.send(requestID, reply)
    }

    // MARK: New transactions

    /// New transactions have been committed.
    ///
    /// - Parameters:
    ///   - reply: The selected ones; nil if there are none.
    ///   - number: The last of them.
    func deliver(_ reply: Reply?, upTo number: Int64) {
        guard case .current = phase else { return }
        if let reply {
            guard isClientReady else { return fallBehind() }
            if case .failed = reply { return finish(reply) }
            reportedNumber = number
            send(.reply(reply))
        } else if number - reportedNumber >= Self.passedOverMax, isClientReady {
            reportedNumber = number
            send(.reply(.history(HistoryReply(upTo: token(number), isCurrent: true), more: true)))
        }
        // Sending may have ended the connection.
        guard case .current = phase else { return }
        position = HistoryPosition(number: number + 1)
    }

    /// A client gets its new position after this many transactions that were not selected, so that
    /// its token does not become old.
    private static let passedOverMax: Int64 = 1_000

    /// The stream reads the transactions after its position by itself.
    func fallBehind() {
        feed.remove(self)
        phase = .paused
        resume()
    }

    // MARK: Pages

    private var nextRead: HistoryPageRead {
        HistoryPageRead(
            request: request, position: position, sentCount: sentCount,
            hasSentPart: hasSentPart, checked: checked, view: services.view,
            limits: services.limits)
    }

    private func readPage() {
        phase = .reading
        let (release, read) = (readers.release, nextRead)
        let (id, encodedAbove) = (requestID, services.limits.loopReplyBytesMax)
        let cancellation = ReadCancellation()
        self.cancellation = cancellation
        let deadline = follows ? ContinuousClock.now + services.limits.readTimeMax : deadline
        let report = reporter()
        readers.acquire(
            connection.readerRequest(
                bytes: checked == nil ? bytes : 0, cancellation,
                endSnapshot: { cancellation.cancel() })
        ) { reader in
            switch reader {
            case .failure(let error): report(.failed(error))
            case .success(let reader):
                let outcome: Outcome
                do throws(LarderError) {
                    let (result, checked) = try read.perform(
                        reader.reader,
                        reader.budget(deadline: deadline, cancellation: cancellation))
                    let reply = EncodableReply(
                        read.reply(result), to: id, encodedAbove: encodedAbove)
                    outcome = .page(result.page, checked, reply)
                } catch {
                    outcome = .failed(
                        cancellation.isCancelled ? ReaderPool.snapshotExpired : error)
                }
                release(reader)
                report(outcome)
            }
        }
    }

    private func token(_ number: Int64) -> HistoryToken {
        HistoryToken(
            store: services.store.identifier, epoch: services.store.historyEpoch, number: number)
    }

    /// A function with which a job reports its outcome to the event loop.
    private func reporter() -> @Sendable (Outcome) -> Void {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let eventLoop = eventLoop
        return { outcome in eventLoop.execute { bound.value.received(outcome) } }
    }

    private func received(_ outcome: Outcome) {
        guard case .reading = phase else { return }
        switch outcome {
        case .failed(let error): failed(error)
        case .page(let page, let checked, let reply): received(page, checked, reply)
        }
    }

    private func received(
        _ page: HistoryPage, _ checked: HistoryPageRead.Checked, _ reply: EncodableReply
    ) {
        let isLast = nextRead.isLast(page)
        self.checked = checked
        hasSentPart = page.continues(afterPart: hasSentPart, from: position)
        position = page.end
        sentCount += page.completeCount
        if isLast {
            abandon()
            return connection.streamEnded(requestID, reply)
        }
        let isNews = !page.transactions.isEmpty || page.isLast && !hasReportedCurrent
        if isNews || sentNumber - reportedNumber >= Self.passedOverMax {
            reportedNumber = sentNumber
            if page.isLast { hasReportedCurrent = true }
            send(reply)
        }
        guard case .reading = phase else { return }
        if page.isLast, follows, feed.add(self, after: sentNumber) {
            phase = .current
        } else {
            phase = .paused
            resume()
        }
    }

    /// A stream that follows the history tries again after an error that time resolves.
    private func failed(_ error: LarderError) {
        let isTemporary =
            [.timeout, .snapshotExpired].contains(error.code)
            || error.code == .resourceExhausted && checked != nil
                && error != HistoryPageRead.tooLarge
        guard follows, isTemporary else { return finish(.failed(error)) }
        phase = .paused
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        timer = eventLoop.scheduleTask(in: Self.retryTime) { bound.value.resume() }
    }

    private static let retryTime = TimeAmount.milliseconds(100)
}
