import Glibc
import LarderModel

/// Standard output, written in large pieces.
///
/// When its reader is gone (`larder … | head`) the process ends as any tool does, by SIGPIPE and
/// without a word. SIGPIPE itself is ignored (see `StandardStreams`), because a server that is gone
/// must be an error that is told, and not the end of the process.
struct StandardOutput {
    private static let pieceBytes = 64 << 10

    private var buffer: [UInt8] = []

    mutating func write(_ text: String) throws(LarderError) {
        buffer += text.utf8
        if buffer.count >= Self.pieceBytes { try flush() }
    }

    mutating func flush() throws(LarderError) {
        var rest = buffer[...]
        buffer.removeAll(keepingCapacity: true)
        while !rest.isEmpty {
            let count = Glibc.write(
                STDOUT_FILENO, Array(rest.prefix(Self.pieceBytes)), min(rest.count, Self.pieceBytes)
            )
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else {
                try waitOrFail(errno)
            }
        }
    }

    private func waitOrFail(_ code: Int32) throws(LarderError) {
        switch code {
        case EINTR: return
        case EAGAIN:
            // Whoever gave us the descriptor made it non-blocking.
            var descriptor = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
            _ = poll(&descriptor, 1, -1)
        case EPIPE:
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        default:
            throw LarderError(
                code == ENOSPC ? .storageFull : .storageFailed,
                "standard output cannot be written: \(SystemError(code: code).text)")
        }
    }
}
