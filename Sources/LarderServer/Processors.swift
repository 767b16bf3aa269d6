import CLinux
import FoundationEssentials

/// The processors of the machine that this process may use.
///
/// SwiftNIO's number leaves out the processors to which the process is bound, and the quotas of all
/// groups but the one at the root, such as that of a unit of systemd with CPUQuota=.
package enum Processors {
    /// The number of processors: those to which the process is bound, but no more than the quotas
    /// of its control groups, rounded up, allow.
    package static var available: Int {
        let bound = max(1, Int(larder_bound_processors()))
        let groups = contents(of: "/proc/self/cgroup")
        return min(bound, quota(groups: groups, root: "/sys/fs/cgroup") ?? .max)
    }

    /// The smallest quota of the control groups of a process, in processors; nil without one.
    ///
    /// - Parameters:
    ///   - groups: The contents of /proc/self/cgroup.
    ///   - root: The folder where the control groups are mounted.
    static func quota(groups: String, root: String) -> Int? {
        var least: Int?
        for line in groups.split(separator: "\n") {
            // The number of the hierarchy, its controllers, and the path of the group.
            let fields = line.split(
                separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            let isUnified = fields[1].isEmpty
            guard isUnified || fields[1].split(separator: ",").contains("cpu") else { continue }
            var folder = fields[2][...]
            // In a container the path may be that of the host, which does not exist here.
            while true {
                let quota = quota(of: "\(root)\(isUnified ? "" : "/cpu")\(folder)", isUnified)
                if let quota { least = min(least ?? .max, quota) }
                guard let slash = folder.lastIndex(of: "/") else { break }
                folder = folder[..<slash]
            }
        }
        return least
    }

    private static func quota(of folder: String, _ isUnified: Bool) -> Int? {
        let texts =
            isUnified
            ? contents(of: "\(folder)/cpu.max").split(whereSeparator: \.isWhitespace)
            : ["quota", "period"].flatMap {
                contents(of: "\(folder)/cpu.cfs_\($0)_us").split(whereSeparator: \.isWhitespace)
            }
        // Without a quota the first one is "max", or -1.
        guard texts.count == 2, let time = Int(texts[0]), let period = Int(texts[1]), time > 0,
            period > 0
        else { return nil }
        return (time - 1) / period + 1
    }

    private static func contents(of path: String) -> String {
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }
}
