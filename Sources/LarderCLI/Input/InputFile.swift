import Glibc
import LarderModel

/// A file that is read from the front, in pieces; `-` is standard input.
///
/// A class, for it owns the descriptor and closes it.
final class InputFile {
    /// How sentences call it.
    let name: String
    private let descriptor: Int32
    private var piece = [UInt8](repeating: 0, count: 256 << 10)

    init(_ path: String) throws(LarderError) {
        if path == "-" {
            name = "standard input"
            descriptor = STDIN_FILENO
            return
        }
        name = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw LarderError(
                .storageFailed, "\(path) cannot be opened: \(SystemError(code: errno).text)")
        }
    }

    deinit {
        if descriptor != STDIN_FILENO { close(descriptor) }
    }

    /// The next bytes, as many as there are at once; empty at the end.
    func read() throws(LarderError) -> ArraySlice<UInt8> {
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count >= 0 { return piece[..<count] }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&waiting, 1, -1)
            default:
                throw LarderError(
                    .storageFailed, "\(name) cannot be read: \(SystemError(code: errno).text)")
            }
        }
    }

    /// Everything up to the end, as text.
    func text(bytesMax: Int) throws(LarderError) -> String {
        var bytes: [UInt8] = []
        while true {
            let piece = try read()
            if piece.isEmpty { break }
            bytes += piece
            guard bytes.count <= bytesMax else {
                throw LarderError(.resourceExhausted, "\(name) is longer than \(bytesMax) bytes")
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw LarderError(.malformedValue, "\(name) is not UTF-8")
        }
        return text
    }
}
