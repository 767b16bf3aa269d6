import FoundationEssentials
import Testing

@Suite("Rules that matter are checks")
struct RuleTests {
    /// Calls that trap on input, wait blindly, or print from a library.
    static let banned: [(text: String, reason: String)] = [
        ("try" + "!", "traps; throw a typed error"),
        ("as" + "!", "traps; use a conditional cast"),
        ("fatal" + "Error(", "traps; throw, or use precondition for a bug of ours"),
        ("Task." + "sleep", "waits blindly; wait for the event itself"),
        ("usl" + "eep(", "waits blindly; wait for the event itself"),
        ("TO" + "DO", "unfinished; finish it or write an issue"),
        ("FIX" + "ME", "unfinished; finish it or write an issue"),
    ]

    @Test("no source calls what traps on input or waits blindly")
    func bannedCalls() throws {
        for file in try Repository.swiftFiles() {
            for (number, line) in file.lines.enumerated() {
                for rule in Self.banned where line.contains(rule.text) {
                    Issue.record("\(file.path):\(number + 1): \(rule.text): \(rule.reason)")
                }
            }
        }
    }

    @Test("only the executables print")
    func printing() throws {
        let files = try Repository.files(under: ["Sources"], endings: [".swift"])
        for file in files where !file.path.hasPrefix("Sources/LarderCLI/") {
            for (number, line) in file.lines.enumerated() {
                let isCall = line.split(separator: " ").contains { $0.hasPrefix("print(") }
                #expect(!isCall, "\(file.path):\(number + 1): a library does not print")
            }
        }
    }

    @Test("unsafe pointers stay in the rooms made for them")
    func unsafePointers() throws {
        let rooms = [
            "Sources/LarderStore/SQLite/", "Sources/LarderWire/Coding/",
            // The system's mutex and condition must have an address of their own.
            "Sources/LarderClient/Threads/Monitor.swift",
        ]
        let words = ["UnsafeMutablePointer", "UnsafePointer", "OpaquePointer", "Unmanaged<"]
        for file in try Repository.files(under: ["Sources"], endings: [".swift"])
        where !rooms.contains(where: file.path.hasPrefix) {
            for (number, line) in file.lines.enumerated() {
                for word in words where line.contains(word) {
                    Issue.record("\(file.path):\(number + 1): \(word) outside of \(rooms)")
                }
            }
        }
    }

    @Test("each unchecked claim of sendability says who protects it")
    func uncheckedSendable() throws {
        for file in try Repository.files(under: ["Sources"], endings: [".swift"]) {
            for (number, line) in file.lines.enumerated()
            where line.contains("@unchecked Sendable") && !line.contains("///") {
                let above = file.lines[max(0, number - 12)..<number]
                #expect(
                    above.contains { $0.contains("//") },
                    "\(file.path):\(number + 1): say in a comment who protects it")
            }
        }
    }

    @Test("the project names no path of a machine it was built on")
    func machinePaths() throws {
        let files = try Repository.files(
            under: ["Sources", "Tests", "scripts", "docs", "Proto"] + Repository.benchmarks,
            endings: [".swift", ".md", ".proto", ".py", ".bats", ".sh", ".script", ""])
        for file in Set(files.map(\.path)).sorted() {
            for (number, line) in try Repository.read(file).lines.enumerated() {
                for path in ["/wo" + "rk/", "/ro" + "ot/"] where line.contains(path) {
                    Issue.record("\(file):\(number + 1): names \(path)")
                }
            }
        }
    }

    @Test("the README is under 200 lines, and the decisions are numbered without a gap")
    func documents() throws {
        #expect(try Repository.read("README.md").lines.count < 200)
        let folder = "\(Repository.top)/docs/decisions"
        let numbers = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".md") }.sorted().map { $0.prefix(4) }
        for (position, number) in numbers.enumerated() {
            #expect(Int(number) == position + 1, "decision \(number) is out of line")
        }
    }

    @Test("the top level holds only what convention puts there")
    func topLevel() throws {
        let expected: Set<String> = [
            "Package.swift", "Package.resolved", "Sources", "Tests", "Proto", "scripts", "docs",
            "Benchmarks", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
        ]
        let found = try FileManager.default.contentsOfDirectory(atPath: Repository.top)
            .filter { !$0.hasPrefix(".") }
        #expect(Set(found).subtracting(expected).isEmpty)
    }
}
