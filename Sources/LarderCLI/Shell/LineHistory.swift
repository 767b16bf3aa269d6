import FoundationEssentials
import Glibc

/// The lines that were typed in `larder shell`, in a file for its user only: one per line, the last
/// one at the end. Several shells may add to it.
struct LineHistory {
    private static let linesMax = 1_000
    /// A longer file is shortened to the last lines.
    private static let bytesMax = 1 << 20

    /// The lines of former shells.
    let lines: [String]
    private var last: String
    private let file: Int32

    /// - Parameter path: nil for a history that ends with the process. It does, too, if the file
    ///   cannot be opened.
    init(path: String?) {
        let flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW
        file = path.map { open($0, flags, 0o600) } ?? -1
        var status = stat()
        guard file >= 0, fchmod(file, 0o600) == 0, fstat(file, &status) == 0,
            status.st_mode & S_IFMT == S_IFREG
        else {
            lines = []
            last = ""
            return
        }
        var bytes = [UInt8](repeating: 0, count: min(Int(status.st_size), Self.bytesMax))
        let count = pread(file, &bytes, bytes.count, status.st_size - off_t(bytes.count))
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        lines = text.split(separator: "\n").suffix(Self.linesMax).map { String($0) }
        last = lines.last ?? ""
        guard status.st_size > Self.bytesMax, ftruncate(file, 0) == 0 else { return }
        for line in lines { append(line) }
    }

    /// Adds a line, unless it begins with a space or repeats the last one.
    ///
    /// - Returns: The line as it is shown again; nil if it is not added.
    mutating func add(_ line: String) -> String? {
        // The lines of one command are one entry.
        let entry = String(line.map { $0.isNewline ? " " : $0 })
        guard let first = entry.first, first != " ", entry != last else { return nil }
        last = entry
        append(entry)
        return entry
    }

    private func append(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        // Without the file, the line is in the history of this process.
        if file >= 0 { _ = write(file, bytes, bytes.count) }
    }
}
