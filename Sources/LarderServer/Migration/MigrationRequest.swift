import LarderModel
import LarderQuery
import NIOCore

/// A request that migrates the store, or begins or commits a session.
///
/// It stays open until the store is served again, and then has its reply. It belongs to the event
/// loop of its connection.
final class MigrationRequest: OpenRequest {
    let id: UInt64
    let work: Server.MigrationWork
    private unowned let connection: ConnectionHandler
    /// The session that the request has begun.
    private var session: MigrationSession?
    /// The end of the pause before it starts; nil if it has started.
    private var pause: Scheduled<Void>?
    /// The end of the session's time, and the next look at its silence.
    private var timers: [Scheduled<Void>] = []
    /// Why it was ended, if it was.
    private var reason: LarderError?

    init(id: UInt64, _ port: ConnectionPort, connection: ConnectionHandler) {
        self.id = id
        self.connection = connection
        work = Server.MigrationWork(requester: port, cancellation: ReadCancellation()) { progress in
            port.execute { $0.send(id, .reply(.migrationProgress(progress.step))) }
        }
    }

    /// Starts later. Until then the request can be ended at once.
    func wait(
        until time: NIODeadline, on eventLoop: any EventLoop,
        _ start: @escaping @Sendable () -> Void
    ) {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        pause = eventLoop.scheduleTask(deadline: time) {
            bound.value.pause = nil
            start()
        }
    }

    // MARK: The session

    /// - Parameters:
    ///   - time: How long the session may be open.
    ///   - silence: How long it may be without a message of its client.
    func began(
        _ session: MigrationSession, time: Duration, silence: Duration, on eventLoop: any EventLoop
    ) {
        self.session = session
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        timers = [
            eventLoop.scheduleTask(in: TimeAmount(time)) {
                bound.value.fail(MigrationSession.timeOver)
            }
        ]
        watchSilence(TimeAmount(silence), since: .now(), on: eventLoop)
    }

    private func watchSilence(
        _ silence: TimeAmount, since start: NIODeadline, on eventLoop: any EventLoop
    ) {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let timer = eventLoop.scheduleTask(deadline: start + silence) {
            bound.value.checkSilence(silence, on: eventLoop)
        }
        timers = Array(timers.prefix(1)) + [timer]
    }

    private func checkSilence(_ silence: TimeAmount, on eventLoop: any EventLoop) {
        guard let session else { return }
        // While a stage runs, the client waits for the server.
        let last = session.isWorking ? .now() : session.lastMessage
        if last + silence <= .now() { return fail(MigrationSession.silent) }
        watchSilence(silence, since: last, on: eventLoop)
    }

    // MARK: The end

    func cancel() { fail(MigrationSession.cancelled) }

    func inputEnded() { if session != nil { cancel() } }

    func connectionDrains(_ reason: LarderError) { if pause != nil { fail(reason) } }

    /// A migration that commits already is not stopped.
    func fail(_ error: LarderError) {
        let isWaiting = pause != nil
        if reason == nil { reason = error }
        ended()
        work.cancellation.cancel()
        session?.end(error)
        if isWaiting { connection.streamEnded(id, .reply(.failed(error))) }
    }

    func abandon() {
        ended()
        work.cancellation.cancel()
        session?.end(MigrationSession.cancelled)
    }

    /// Nothing is timed any more.
    func ended() {
        pause?.cancel()
        pause = nil
        for timer in timers { timer.cancel() }
        timers = []
    }

    /// The error for the client after a migration that has failed.
    func error(_ failure: LarderError) -> LarderError {
        failure.code == .cancelled ? reason ?? failure : failure
    }
}
