import LarderModel
import NIOCore

/// A request that migrates the store, or begins or commits a session.
///
/// It stays open until the store is served again, and then has its reply. It belongs to the event
/// loop of its connection.
final class MigrationRequest: OpenRequest {
    let cancellation = ReadCancellation()
    /// The session that the request has begun.
    private var session: MigrationSession?
    private var timer: Scheduled<Void>?
    /// Why it was ended, if it was.
    private var reason: LarderError?

    /// The session is open for this time at most.
    func began(_ session: MigrationSession, timer: Scheduled<Void>) {
        self.session = session
        self.timer = timer
    }

    func cancel() { fail(MigrationSession.cancelled) }

    func inputEnded() { if session != nil { cancel() } }

    /// A migration that commits already is not stopped.
    func fail(_ error: LarderError) {
        if reason == nil { reason = error }
        timer?.cancel()
        cancellation.cancel()
        session?.end(error)
    }

    func abandon() { cancel() }

    /// The error for the client after a migration that has failed.
    func error(_ failure: LarderError) -> LarderError {
        failure.code == .cancelled ? reason ?? failure : failure
    }
}
