import CLinux
import Glibc
import LarderModel

/// The interrupt of the terminal (SIGINT), which ends what is typed or what runs, and not the
/// shell.
struct Interrupt {
    /// Can be read after an interrupt. The handler has no other way to tell that is safe in it.
    let descriptor: Int32

    /// Handles the signal from now on. A program that is executed has the default action again.
    init() throws(LarderError) {
        descriptor = larder_event()
        guard descriptor >= 0 else {
            throw LarderError(
                .storageFailed, "cannot create an event: \(SystemError(code: errno).text)")
        }
        interruptDescriptor = descriptor
        signal(SIGINT) { _ in
            var one: UInt64 = 1
            let code = errno
            _ = write(interruptDescriptor, &one, MemoryLayout<UInt64>.size)
            errno = code
        }
    }

    /// Whether there was an interrupt since the last call.
    func take() -> Bool {
        var count: UInt64 = 0
        return read(descriptor, &count, MemoryLayout<UInt64>.size) > 0
    }
}

/// Set once, before the handler is.
nonisolated(unsafe) private var interruptDescriptor: Int32 = -1
