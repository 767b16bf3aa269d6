import Glibc
import LarderModel
import LarderPrograms
import Synchronization

/// Standard output, buffered.
///
/// If the reader of a pipe has exited (`larder … | head`), the process ends by SIGPIPE without a
/// message, like other tools. The signal itself is ignored (see `StandardStreams`), because a
/// closed connection to the server must be reported as an error.
struct StandardOutput {
    static let isTerminal = TerminalText.isTerminal(STDOUT_FILENO)
    /// A descriptor of the terminal, also while a pager shows the output; -1 if there is none.
    static let terminal = isTerminal ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : -1
    private static let isStyled = TerminalStyle.isShown(on: STDOUT_FILENO)
    private static let pager = Mutex<Pager?>(nil)
    private static let chunkBytes = 64 << 10

    private var buffer: [UInt8] = []

    /// Writes the text, as a terminal may show it if there is one.
    mutating func write(_ text: String) throws(LarderError) {
        try write(control: Self.isTerminal ? TerminalText.shown(text) : text)
    }

    /// Writes whole lines of UTF-8, as the text of them.
    mutating func write(bytes: [UInt8]) throws(LarderError) {
        if Self.isTerminal { return try write(String(decoding: bytes, as: UTF8.self)) }
        buffer += bytes
        if buffer.count >= Self.chunkBytes { try flush() }
    }

    /// Writes a text that stands out on a terminal with colours.
    mutating func write(heading text: String) throws(LarderError) {
        let shown = Self.isTerminal ? TerminalText.shown(text) : text
        try write(control: Self.isStyled ? TerminalStyle.heading.applied(to: shown) : shown)
    }

    /// Writes the program's own control sequences.
    mutating func write(control text: String) throws(LarderError) {
        buffer += text.utf8
        if buffer.count >= Self.chunkBytes { try flush() }
    }

    mutating func flush() throws(LarderError) {
        let bytes = buffer
        buffer.removeAll(keepingCapacity: true)
        try Self.write(Self.pager.withLock { $0?.passing(bytes) ?? bytes })
    }

    // MARK: The pager

    /// From now on, output that is longer than the window is shown by the user's pager.
    static func beginPaging() {
        _ = (terminal, isStyled)
        pager.withLock { $0 = Pager() }
    }

    /// Writes what is held, or waits until the user has left the pager.
    static func endPaging() throws(LarderError) {
        try write(pager.withLock { $0?.takeHeld() ?? [] })
        pager.withLock {
            $0?.wait()
            $0 = nil
        }
    }

    // MARK: System calls

    private static func write(_ bytes: [UInt8]) throws(LarderError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(
                STDOUT_FILENO, Array(rest.prefix(Self.chunkBytes)), min(rest.count, Self.chunkBytes)
            )
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else {
                try waitOrFail(errno)
            }
        }
    }

    /// Ends the process if standard output is a pipe whose reader has exited. For commands that
    /// may have nothing to write for a long time.
    static func endIfReaderExited() throws(LarderError) { try pause(.zero) }

    /// Waits for a time, and ends the process as soon as the reader of a pipe has exited.
    static func pause(_ time: Duration) throws(LarderError) {
        let end = ContinuousClock.now + time
        var timeLeft = time
        repeat {
            var descriptor = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            let milliseconds = Int32(clamped: timeLeft / .milliseconds(1))
            if poll(&descriptor, 1, milliseconds) == 1,
                descriptor.revents & Int16(POLLERR | POLLHUP) != 0
            {
                try waitOrFail(EPIPE)
            }
            timeLeft = end - .now
        } while timeLeft >= .milliseconds(1)
    }

    private static func waitOrFail(_ code: Int32) throws(LarderError) {
        switch code {
        case EINTR: return
        case EAGAIN:
            // The parent process made the descriptor non-blocking.
            var descriptor = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
            _ = poll(&descriptor, 1, -1)
        case EPIPE:
            pager.withLock { pager in
                guard pager?.isRunning == true else { return }
                // The user has left the pager before the end.
                pager?.wait()
                exit(ExitStatus.success.rawValue)
            }
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        default:
            throw LarderError(
                code == ENOSPC ? .storageFull : .storageFailed,
                "cannot write to standard output: \(SystemError(code: code).text)")
        }
    }
}
