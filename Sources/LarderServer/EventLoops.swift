import NIOPosix

/// Event loops that several servers of a process share. They end with the object.
package final class EventLoops: Sendable {
    let group: MultiThreadedEventLoopGroup

    package init(count: Int = 1) {
        group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, count))
    }

    deinit {
        // One of the loops may release the object, so nobody waits for their end.
        group.shutdownGracefully { _ in }
    }
}
