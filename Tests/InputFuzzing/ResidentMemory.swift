import FoundationEssentials
import Glibc

/// The memory of this process.
public enum ResidentMemory {
    /// The bytes that are in memory; nil if the system does not say.
    public static var byteCount: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else {
            return nil
        }
        let words = text.split(separator: " ")
        guard words.count > 1, let pages = Int(words[1]) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
