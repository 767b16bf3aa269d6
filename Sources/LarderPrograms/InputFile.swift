import Glibc
import LarderModel

/// A file that is read sequentially in chunks; `-` is standard input. Its bytes may also be
/// computed, as those of a table of a database are.
///
/// It is a class because it owns the descriptor and closes it.
package final class InputFile {
    /// The name of the file in error messages.
    package let name: String
    private let descriptor: Int32
    /// The size of a regular file; nil for anything else.
    private let byteCount: Int64?
    private var readByteCount: Int64 = 0
    private var chunk = [UInt8](repeating: 0, count: 256 << 10)
    /// The next bytes of a file that is computed, none at its end; nil for any other.
    private var source: Source?
    package typealias Source = () throws(LarderError) -> [UInt8]
    /// Bytes that `prefix` has read, and the next `read` returns.
    private var unread: [UInt8] = []

    /// - Throws: `storageFailed` if the file cannot be opened.
    package init(_ path: String) throws(LarderError) {
        if path == "-" {
            name = "standard input"
            descriptor = STDIN_FILENO
            byteCount = Self.byteCount(of: descriptor)
            return
        }
        name = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw LarderError(
                .storageFailed, "cannot open \(path): \(SystemError(code: errno).text)")
        }
        byteCount = Self.byteCount(of: descriptor)
    }

    /// A file that is computed.
    package init(name: String, _ source: @escaping Source) {
        self.name = name
        self.source = source
        descriptor = -1
        byteCount = nil
    }

    private static func byteCount(of descriptor: Int32) -> Int64? {
        var status = stat()
        let isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        return isRegular ? Int64(status.st_size) : nil
    }

    /// The part of the file that was read, from 0 to 1; nil if its size is unknown.
    package var readFraction: Double? {
        byteCount.map { $0 > 0 ? Double(readByteCount) / Double($0) : 1 }
    }

    package var isStandardInput: Bool { descriptor == STDIN_FILENO }

    deinit {
        if descriptor >= 0, descriptor != STDIN_FILENO { close(descriptor) }
    }

    /// The next bytes, without reading past them: a number of bytes, or fewer at the end of the
    /// file.
    package func prefix(_ count: Int) throws(LarderError) -> ArraySlice<UInt8> {
        while unread.count < count {
            let chunk = try readChunk()
            if chunk.isEmpty { break }
            unread += chunk
        }
        return unread.prefix(count)
    }

    /// The next bytes, as many as one `read` call returns; empty at the end of the file.
    package func read() throws(LarderError) -> ArraySlice<UInt8> {
        guard !unread.isEmpty else { return try readChunk() }
        defer { unread = [] }
        return unread[...]
    }

    private func readChunk() throws(LarderError) -> ArraySlice<UInt8> {
        if let source { return try source()[...] }
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count >= 0 {
                readByteCount += Int64(count)
                return chunk[..<count]
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&readable, 1, -1)
            default:
                throw LarderError(
                    .storageFailed, "cannot read \(name): \(SystemError(code: errno).text)")
            }
        }
    }

    /// The rest of the file as text.
    package func text(bytesMax: Int) throws(LarderError) -> String {
        var bytes: [UInt8] = []
        while true {
            let chunk = try read()
            if chunk.isEmpty { break }
            bytes += chunk
            guard bytes.count <= bytesMax else {
                throw LarderError(
                    .resourceExhausted, "\(name) is longer than the maximum of \(bytesMax) bytes")
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw LarderError(.malformedValue, "\(name) is not valid UTF-8")
        }
        return text
    }
}
