import LarderModel
import LarderQuery
import LarderWire
import NIOCore

/// A backup: the writer's thread copies the store into a file without a name, a thread of the pool
/// verifies the copy, and the client gets it part by part. See
/// `docs/decisions/0035-backups.md`.
///
/// It belongs to its connection's event loop. Parts are read on the pool, one at a time and only
/// while the socket is writable and the client has credit left.
final class BackupStream: OpenRequest {
    private enum Phase {
        case copying(BackupJob)
        case verifying
        case reading
        /// The client or its socket is not ready for the next part.
        case paused
        case ended
    }

    /// The report of a job of the pool that has read a part.
    private enum Part: Sendable {
        case content(EncodableReply)
        case last(EncodableReply)
        case failed(LarderError)
    }

    let requestID: UInt64
    private let services: ConnectionServices
    private unowned let connection: ConnectionHandler
    private let user: UInt32
    private let eventLoop: any EventLoop
    private let deadline: NIODeadline
    private let cancellation = ReadCancellation()
    private var phase = Phase.paused
    private var copy: BackupCopy?
    /// The number of replies that the client still accepts; nil is unlimited.
    private var credit: UInt32?
    private var timer: Scheduled<Void>?
    private var progress: RepeatedTask?

    /// - Parameters:
    ///   - credit: The credit of the request; 0 is unlimited.
    ///   - time: The time until the last part must have been sent.
    init(
        requestID: UInt64, credit: UInt32, time: Duration, connection: ConnectionHandler,
        eventLoop: any EventLoop
    ) {
        self.requestID = requestID
        self.services = connection.services
        self.connection = connection
        user = connection.user
        self.eventLoop = eventLoop
        self.credit = credit == 0 ? nil : credit
        deadline = .now() + TimeAmount(time)
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        timer = eventLoop.scheduleTask(deadline: deadline) {
            bound.value.finish(.failed(Self.expired))
        }
        let interval = TimeAmount(services.limits.progressInterval)
        progress = eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            bound.value.sendProgress()
        }
    }

    static let cancelled = LarderError(.cancelled, "the backup was cancelled by its client")
    static let expired = LarderError(
        .timeout, "the backup was not completed in time",
        hint: "allow more time, or receive it faster")

    // MARK: The copy

    func start() {
        let slot: BackupQuota.Slot
        do throws(LarderError) {
            slot = try services.backups.begin(for: user)
        } catch {
            return finish(.failed(error))
        }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let eventLoop = eventLoop
        let job = BackupJob(slot, in: services.backups.folder, deadline: deadline) { outcome in
            eventLoop.execute { bound.value.copied(outcome) }
        }
        phase = .copying(job)
        guard let writes = services.writes else { return copyUnwritten(job) }
        writes.append(job)
    }

    /// Copies a store that has no writer, on the pool.
    private func copyUnwritten(_ job: BackupJob) {
        let (backend, timeMax) = (services.backend, services.limits.backupStepTimeMax)
        onPool { turn in
            var isDone = false
            while !isDone {
                isDone = job.step(timeMax: timeMax) { folder in
                    Result { () throws(LarderError) in try backend.makeCopy(in: folder) }
                }
                turn.pauseIfOver()
            }
        }
    }

    /// Runs work after that which this backup has submitted before.
    private func onPool(_ work: @escaping FairThreads.Work) {
        services.pool.submit(in: .object(ObjectIdentifier(self)), of: user, work)
    }

    private func copied(_ outcome: BackupJob.Outcome) {
        if case .copying = phase, let copy = outcome.copy, outcome.error == nil {
            self.copy = copy
            phase = .verifying
            return verify(copy)
        }
        if let copy = outcome.copy { release(copy) }
        if let error = outcome.error { finish(.failed(error)) }
    }

    private func verify(_ copy: BackupCopy) {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let (eventLoop, cancellation) = (eventLoop, cancellation)
        let end = ContinuousClock.now + .nanoseconds((deadline - .now()).nanoseconds)
        onPool { turn in
            let budget = ReadBudget(
                deadline: end, cancellation: cancellation, pause: { turn.pauseIfOver() })
            let result = Result { () throws(LarderError) in try copy.verify(budget: budget) }
            eventLoop.execute { bound.value.verified(result) }
        }
    }

    private func verified(_ result: Result<Void, LarderError>) {
        guard case .verifying = phase else { return }
        switch result {
        case .failure(let error): finish(.failed(error))
        case .success:
            phase = .paused
            resume()
        }
    }

    // MARK: The client

    func grant(_ replies: UInt32) {
        guard let credit else { return }
        self.credit = credit.addingClamped(replies)
        resume()
    }

    /// Continues if possible. Called when the socket or the client may have become ready.
    func resume() {
        guard case .paused = phase, isClientReady, let copy else { return }
        phase = .reading
        read(copy)
    }

    private var isClientReady: Bool { connection.isWritable && credit != 0 }

    private func read(_ copy: BackupCopy) {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let (eventLoop, id) = (eventLoop, requestID)
        let bytesMax = services.limits.backupPartBytesMax
        onPool { _ in
            let part: Part
            do throws(LarderError) {
                let next = try copy.next(atMost: bytesMax)
                let more = !next.content.isEmpty
                let reply = EncodableReply(
                    .backup(next, more: more), to: id, encodedAbove: 0)
                part = more ? .content(reply) : .last(reply)
            } catch {
                part = .failed(error)
            }
            eventLoop.execute { bound.value.received(part) }
        }
    }

    private func received(_ part: Part) {
        guard case .reading = phase else { return }
        switch part {
        case .failed(let error): finish(.failed(error))
        case .last(let reply):
            abandon()
            connection.streamEnded(requestID, reply)
        case .content(let reply):
            phase = .paused
            send(reply)
            resume()
        }
    }

    private func sendProgress() {
        let byteCount: Int
        switch phase {
        case .copying(let job): byteCount = job.byteCount
        case .verifying: byteCount = copy?.byteCount ?? 0
        case .reading, .paused, .ended: return
        }
        guard isClientReady else { return }
        send(.reply(.backup(BackupPart(byteCount: Int64(byteCount)), more: true)))
    }

    private func send(_ reply: EncodableReply) {
        if let credit { self.credit = credit - 1 }
        connection.send(requestID, reply)
    }

    // MARK: The end

    func cancel() { fail(Self.cancelled) }

    /// A client that sends nothing more gives no credit.
    func inputEnded() { cancel() }

    func connectionDrains(_ reason: LarderError) { fail(reason) }

    func fail(_ error: LarderError) { finish(.failed(error)) }

    func abandon() {
        timer?.cancel()
        progress?.cancel()
        cancellation.cancel()
        if case .copying(let job) = phase { job.cancellation.cancel() }
        phase = .ended
        if let copy { release(copy) }
        copy = nil
    }

    /// On a thread of the pool, because freeing the space of a large file takes long.
    private func release(_ copy: BackupCopy) {
        onPool { _ in _ = copy }
    }

    private func finish(_ reply: Reply) {
        if case .ended = phase { return }
        abandon()
        connection.streamEnded(requestID, .reply(reply))
    }
}
