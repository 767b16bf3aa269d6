import FoundationEssentials
import Testing

@testable import LarderServer

@Suite("The processors that a process may use")
struct ProcessorsTests {
    /// The quota with these files below a root of control groups.
    private func quota(_ groups: String, _ files: [String: String]) throws -> Int? {
        let root = FileManager.default.temporaryDirectory.path() + "groups-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: root) }
        for (path, text) in files {
            let file = "\(root)/\(path)"
            let folder = String(file[..<(file.lastIndex(of: "/") ?? file.endIndex)])
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            try text.write(toFile: file, atomically: false, encoding: .utf8)
        }
        return Processors.quota(groups: groups, root: root)
    }

    @Test("there is at least one processor")
    func available() { #expect(Processors.available >= 1) }

    @Test("the quota of a unit counts, rounded up to whole processors")
    func unit() throws {
        let groups = "0::/system.slice/larder.service\n"
        let path = "system.slice/larder.service/cpu.max"
        #expect(try quota(groups, [path: "50000 100000\n"]) == 1)
        #expect(try quota(groups, [path: "200000 100000\n"]) == 2)
        #expect(try quota(groups, [path: "200001 100000\n"]) == 3)
        #expect(try quota(groups, [path: "max 100000\n"]) == nil)
    }

    @Test("the smallest quota of a group and of those that contain it counts")
    func nested() throws {
        let files = [
            "a/b/cpu.max": "max 100000\n", "a/cpu.max": "300000 100000\n",
            "cpu.max": "800000 100000\n",
        ]
        #expect(try quota("0::/a/b\n", files) == 3)
        #expect(try quota("0::/\n", files) == 8)
        // The path of the host, seen in a container.
        #expect(try quota("0::/docker/1234\n", files) == 8)
    }

    @Test("a group of the first version has its quota and period in two files")
    func firstVersion() throws {
        let groups = "4:memory:/a\n3:cpu,cpuacct:/a\n0::/\n"
        let files = ["cpu/a/cpu.cfs_quota_us": "150000\n", "cpu/a/cpu.cfs_period_us": "100000\n"]
        #expect(try quota(groups, files) == 2)
        let none = ["cpu/a/cpu.cfs_quota_us": "-1\n", "cpu/a/cpu.cfs_period_us": "100000\n"]
        #expect(try quota(groups, none) == nil)
    }

    @Test(
        "a file that cannot be understood sets no quota",
        arguments: ["", "max", "1", "0 0", "-5 100000", "x y", "1 2 3", "9e9 1"])
    func malformed(_ text: String) throws {
        #expect(try quota("0::/\n", ["cpu.max": text]) == nil)
        #expect(try quota(text, ["cpu.max": "100000 100000"]) == nil)
    }
}
