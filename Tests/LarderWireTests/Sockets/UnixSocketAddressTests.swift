import FoundationEssentials
import Glibc
import LarderModel
import LarderWire
import Testing

@Suite("The address of a Unix socket")
struct UnixSocketAddressTests {
    private func refusal(_ path: String) -> LarderError? {
        do throws(LarderError) {
            _ = try UnixSocketAddress(path: path)
            return nil
        } catch {
            return error
        }
    }

    @Test("a socket address of 107 bytes is accepted, and one of 108 is refused with both numbers")
    func length() {
        #expect(refusal(String(repeating: "x", count: 107)) == nil)
        let error = refusal(String(repeating: "x", count: 108))
        #expect(error?.code == .malformedValue)
        #expect(error?.message == "the socket path has 108 bytes; the maximum is 107")
        #expect(refusal("\0" + String(repeating: "x", count: 106)) == nil)
        #expect(refusal("\0" + String(repeating: "x", count: 107)) != nil)
    }

    @Test("an empty socket path, and one with a zero byte inside, are refused")
    func malformed() {
        #expect(refusal("")?.message == "the socket path is empty")
        #expect(refusal("/tmp/a\0b")?.message == "the socket path contains a zero byte")
        #expect(refusal("\0a\0b") != nil)
    }

    @Test(
        "a socket that is bound to an address is reached at it",
        arguments: ["/tmp/larder-", "\0larder-"])
    func reached(prefix: String) throws {
        let path = prefix + UUID().uuidString
        let address = try UnixSocketAddress(path: path)
        let receiver = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        let sender = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer {
            close(receiver)
            close(sender)
            unlink(path)
        }
        #expect(throws: SystemError.self) { try address.connect(sender) }
        try address.bind(receiver)
        #expect(throws: SystemError.self) { try address.bind(receiver) }
        try address.send([1, 2, 3], over: sender)
        try address.connect(sender)
        var bytes = [UInt8](repeating: 0, count: 8)
        #expect(recv(receiver, &bytes, bytes.count, 0) == 3)
    }
}
