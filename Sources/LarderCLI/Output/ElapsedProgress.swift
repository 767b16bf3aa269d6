import Glibc
import LarderClient
import LarderModel
import LarderPrograms
import Synchronization

/// The progress of work without a measure, shown on standard error if that is a terminal: a text,
/// and the time since the start.
///
/// A thread of its own shows the time every second while the caller's thread is blocked. The lock
/// is held while it writes, so that it writes nothing after the end.
final class ElapsedProgress: Sendable {
    private let isOver = Mutex(false)
    /// The thread waits on a pipe, whose other end is closed at the end.
    private let writeEnd: Int32?
    private static let intervalMilliseconds: Int32 = 1000

    init(_ text: String) {
        var ends: [Int32] = [-1, -1]
        guard isatty(STDERR_FILENO) == 1, pipe(&ends) == 0 else {
            writeEnd = nil
            return
        }
        writeEnd = ends[1]
        let (start, readEnd) = (ContinuousClock.now, ends[0])
        ProgressLine.show(text)
        do throws(LarderError) {
            try BackgroundThread.start { [self] in
                defer { close(readEnd) }
                var waiting = pollfd(fd: readEnd, events: 0, revents: 0)
                while poll(&waiting, 1, Self.intervalMilliseconds) == 0 {
                    let seconds = Int64(clamped: (ContinuousClock.now - start) / .seconds(1))
                    isOver.withLock { isOver in
                        if !isOver { ProgressLine.show("\(text), \(ElapsedTime(seconds).text)") }
                    }
                }
            }
        } catch {
            // The text stays without a time.
            close(readEnd)
        }
    }

    /// Clears the line. Must be called once.
    func end() {
        guard let writeEnd else { return }
        isOver.withLock { $0 = true }
        close(writeEnd)
        ProgressLine.clear()
    }
}
