import Glibc
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import LarderServer

@Suite("Accepting when descriptors run out")
struct AcceptHandlerTests {
    /// Whether a listener accepts, as it was last told.
    private func accepts(_ channel: EmbeddedChannel) -> Bool? {
        for (option, value) in channel.options where option is ChannelOptions.Types.AutoReadOption {
            return value as? Bool
        }
        return nil
    }

    @Test("accepting pauses, is not paused twice, and begins again after a moment")
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

    @Test("a listener that has closed meanwhile is left alone")
    func closed() throws {
        let channel = EmbeddedChannel(handler: AcceptHandler(logger: .silent))
        channel.pipeline.fireErrorCaught(IOError(errnoCode: ENFILE, reason: "accept"))
        _ = try channel.finish(acceptAlreadyClosed: true)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(100))
        #expect(!channel.isActive)
    }
}
