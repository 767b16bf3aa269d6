import Glibc
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import LarderServer

@Suite("Accepting when descriptors run out")
struct AcceptHandlerTests {
    /// The last value that was set for accepting; nil for none.
    private func accepts(_ channel: EmbeddedChannel) -> Bool? {
        for (option, value) in channel.options where option is ChannelOptions.Types.AutoReadOption {
            return value as? Bool
        }
        return nil
    }

    @Test("accepting connections pauses once without descriptors, and continues afterwards")
    func pause() throws {
        let channel = EmbeddedChannel(handler: AcceptHandler(logger: .silent))
        let error = IOError(errnoCode: EMFILE, reason: "accept")
        channel.pipeline.fireErrorCaught(error)
        #expect(accepts(channel) == false)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(99))
        channel.pipeline.fireErrorCaught(error)
        #expect(accepts(channel) == false)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(accepts(channel) == true)
        channel.pipeline.fireErrorCaught(error)
        #expect(accepts(channel) == false)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(100))
        #expect(accepts(channel) == true)
    }

    @Test("a listener that has closed during the pause stays closed")
    func closed() throws {
        let channel = EmbeddedChannel(handler: AcceptHandler(logger: .silent))
        channel.pipeline.fireErrorCaught(IOError(errnoCode: ENFILE, reason: "accept"))
        _ = try channel.finish(acceptAlreadyClosed: true)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(100))
        #expect(!channel.isActive)
    }
}
