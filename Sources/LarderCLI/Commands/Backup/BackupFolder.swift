import FoundationEssentials
import Glibc
import LarderModel

/// A folder of backups of one store, with the time in their names:
/// `school-20261128T071500Z.backup`.
struct BackupFolder {
    let path: String
    /// The part of the names before the time.
    let name: String

    private static let ending = ".backup"

    /// - Parameter origin: The path of the socket or of the store file. Its name without the ending
    ///   is that of the backups.
    init(_ path: String, origin: String) {
        self.path = path
        let file = origin.split(separator: "/").last ?? "store"
        let dot = file.lastIndex(of: ".")
        name = String(dot.map { $0 == file.startIndex ? file : file[..<$0] } ?? file)
    }

    func newFile(at time: Date) -> String {
        let text = time.formatted(
            Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted))
        return "\(path)/\(name)-\(text)\(Self.ending)"
    }

    /// Deletes the oldest backups of the store, by their names. Other files stay.
    ///
    /// - Parameter new: The last backup, which stays also if the clock was set back.
    /// - Throws: `storageFailed` or `permissionDenied` if the folder cannot be read, or a file
    ///   cannot be deleted.
    func deleteOldest(keeping count: Int, besides new: String) throws(LarderError) {
        let files: [String]
        do {
            files = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw LarderError(.storageFailed, "\(path) cannot be read, and no backup was deleted")
        }
        let older = files.filter { isBackup($0) && "\(path)/\($0)" != new }.sorted()
        for file in older.dropLast(count - 1) where unlink("\(path)/\(file)") != 0 {
            guard errno != ENOENT else { continue }
            let reason = SystemError(code: errno)
            throw LarderError(
                reason.code == EACCES || reason.code == EPERM ? .permissionDenied : .storageFailed,
                "cannot delete \(path)/\(file): \(reason.text)")
        }
    }

    /// Whether a file has the form of the names: the digits of a date and a time after the name.
    func isBackup(_ file: String) -> Bool {
        let prefix = "\(name)-"
        guard file.hasPrefix(prefix), file.hasSuffix(Self.ending) else { return false }
        let time = file.dropFirst(prefix.count).dropLast(Self.ending.count).utf8
        let form = "00000000T000000Z".utf8
        return time.count == form.count
            && zip(time, form).allSatisfy { byte, model in
                model == UInt8(ascii: "0")
                    ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) : byte == model
            }
    }
}
