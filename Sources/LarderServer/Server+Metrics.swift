internal import CoreMetrics
import Glibc
import LarderModel
import NIOCore
import Synchronization

extension Server {
    /// The interval at which a backend of swift-metrics gets the metrics.
    private static let publishingInterval = TimeAmount.seconds(10)
    /// The time for which a connection at the socket of the metrics may be open.
    private static let responseTimeMax = TimeAmount.seconds(10)
    /// Open connections there. Others are closed at once.
    private static let connectionsMax = 16

    /// Accepts connections at the socket of the metrics.
    func acceptMetrics(at socket: ListeningSocket) throws(SystemError) -> Acceptor {
        let (group, logger, open) = (group, logger, OpenCount())
        return try Acceptor(socket.descriptor, logger: logger) { [weak self] descriptor in
            guard let self, open.add(atMost: Self.connectionsMax) else {
                Glibc.close(descriptor)
                return
            }
            let channel = MetricsConnection.serve(
                descriptor, on: group.next(), timeMax: Self.responseTimeMax
            ) { [weak self] in self?.core.metrics.collect($0) }
            channel.whenFailure { error in
                open.remove()
                logger.debug("a connection of the metrics has ended at once: \(error)")
            }
            channel.flatMap(\.closeFuture).whenSuccess { open.remove() }
        }
    }

    /// Publishes the metrics until the task is cancelled.
    func publishMetrics(with factory: any MetricsFactory) -> RepeatedTask {
        let publisher = MetricsPublisher(factory: factory)
        return group.next().scheduleRepeatedTask(
            initialDelay: Self.publishingInterval, delay: Self.publishingInterval
        ) { [weak self] _ in
            self?.core.metrics.collect { publisher.publish($0) }
        }
    }
}

/// The number of open connections at the socket of the metrics.
private final class OpenCount: Sendable {
    private let count = Mutex(0)

    /// - Returns: false if there are as many as allowed.
    func add(atMost limit: Int) -> Bool {
        count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
    }

    func remove() { count.withLock { $0 -= 1 } }
}
