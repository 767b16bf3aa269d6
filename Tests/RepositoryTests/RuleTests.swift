import FoundationEssentials
import Testing

@Suite("Rules of the code")
struct RuleTests {
    /// Calls that trap on input or wait for a fixed time.
    static let banned: [(text: String, reason: String)] = [
        ("try" + "!", "traps; throw a typed error"),
        ("as" + "!", "traps; use a conditional cast"),
        ("fatal" + "Error(", "traps; throw, or use precondition for a programming error"),
        ("Task." + "sleep", "waits for a fixed time; wait for the event"),
        ("usl" + "eep(", "waits for a fixed time; wait for the event"),
        ("TO" + "DO", "unfinished"),
        ("FIX" + "ME", "unfinished"),
    ]

    @Test("no source file contains a banned call")
    func bannedCalls() throws {
        for file in try Repository.swiftFiles() {
            for (number, line) in file.lines.enumerated() {
                for rule in Self.banned where line.contains(rule.text) {
                    Issue.record("\(file.path):\(number + 1): \(rule.text): \(rule.reason)")
                }
            }
        }
    }

    @Test("no loop keeps a processor busy while it waits")
    func busyLoops() throws {
        for file in try Repository.swiftFiles() {
            for (number, line) in file.lines.enumerated() where line.contains("sched_" + "yield(") {
                Issue.record("\(file.path):\(number + 1): it waits; pause, or wait for the event")
            }
        }
    }

    @Test("only the command line prints")
    func printing() throws {
        let files = try Repository.files(under: ["Sources"], endings: [".swift"])
        for file in files where !file.path.hasPrefix("Sources/LarderCLI/") {
            for (number, line) in file.lines.enumerated() {
                let isCall = line.split(separator: " ").contains { $0.hasPrefix("print(") }
                #expect(!isCall, "\(file.path):\(number + 1): a library does not print")
            }
        }
    }

    @Test("the protocols between server and store are not public")
    func serverTypes() throws {
        let files = try Repository.files(
            under: ["Sources/LarderQuery/Backend", "Sources/LarderQuery/Live"], endings: [".swift"])
        #expect(!files.isEmpty)
        for file in files {
            for (number, line) in file.lines.enumerated() {
                #expect(
                    !line.contains("public "),
                    "\(file.path):\(number + 1): the client would export it; declare it package")
            }
        }
    }

    @Test("unsafe memory is used only in the folders made for it")
    func unsafePointers() throws {
        let allowed = [
            "Sources/LarderStore/SQLite/", "Sources/LarderWire/",
            // The handles and the memory of PCRE2.
            "Sources/LarderSQL/Patterns/RegularExpression.swift",
            // The handles and the memory of libpq.
            "Sources/LarderPostgres/Connection/Libpq.swift",
            // The system's mutex and condition variable need a stable address.
            "Sources/LarderClient/Threads/Monitor.swift",
            // SwiftNIO's buffer, and the bytes of SQLite's values, within one closure each.
            "Sources/LarderServer/Connection/ReplyBuffer.swift",
            "Sources/LarderStore/Functions/Groups/GroupKeys.swift",
            // Records of the system's database of users, each within one call.
            "Sources/LarderServer/Rights/UserDatabase.swift",
            // The arguments of libedit's and Expat's callbacks, each within one call.
            "Sources/LarderCLI/Shell/LineEditor.swift", "Sources/XcodeModels/XMLElement.swift",
            // A descriptor for a signal handler, which is set once before.
            "Sources/LarderCLI/Shell/Interrupt.swift",
            // Zeroed memory as a value of a type without references, within one closure.
            "Sources/SwiftData/Schema/Codings/TrivialValue.swift",
            // Two arrays of addresses, which are compared within one closure.
            "Sources/SwiftData/Models/ModelList.swift",
            // A closure of a global actor as one of no actor, within one call.
            "Sources/SwiftData/Models/Isolation.swift",
        ]
        // Every way to name unsafe memory.
        let unsafeMemory =
            /Unsafe\w*Pointer|OpaquePointer|Unmanaged|unsafeBitCast|nonisolated\(unsafe\)/
        for file in try Repository.files(under: ["Sources"], endings: [".swift"])
        where !allowed.contains(where: file.path.hasPrefix) {
            for (number, line) in file.lines.enumerated() {
                if let match = line.firstMatch(of: unsafeMemory) {
                    Issue.record("\(file.path):\(number + 1): \(match.0)")
                }
            }
        }
    }

    @Test("a comment says what protects each @unchecked Sendable type")
    func uncheckedSendable() throws {
        for file in try Repository.files(under: ["Sources"], endings: [".swift"]) {
            for (number, line) in file.lines.enumerated()
            where line.contains("@unchecked Sendable") && !line.contains("///") {
                let above = file.lines[max(0, number - 12)..<number]
                #expect(
                    above.contains { $0.contains("//") },
                    "\(file.path):\(number + 1): add a comment that says what protects it")
            }
        }
    }

    /// In debug builds, ArgumentParser makes and validates a group five times for each level above
    /// it, so that a command with groups in groups takes half a second to start.
    @Test("no group of options of the command line contains another group")
    func optionGroups() throws {
        let type = /\b(struct|class|enum|extension) \w+/
        for file in try Repository.files(under: ["Sources"], endings: [".swift"]) {
            for (number, line) in file.lines.enumerated() where line.contains("@OptionGroup") {
                let declaration = file.lines[..<number].last { $0.contains(type) } ?? ""
                #expect(
                    !declaration.contains("ParsableArguments"),
                    "\(file.path):\(number + 1): declare both groups in the command")
            }
        }
    }

    @Test("no file contains a path of a developer's machine")
    func machinePaths() throws {
        let files = try Repository.files(
            under: ["Sources", "Tests", "scripts", "docs", "Proto", "Examples", "Clients"]
                + Repository.benchmarks + Repository.browser,
            endings: [".swift", ".md", ".proto", ".py", ".bats", ".sh", ".script", ""])
        for file in Set(files.map(\.path)).sorted() {
            for (number, line) in try Repository.read(file).lines.enumerated() {
                for path in ["/wo" + "rk/", "/ro" + "ot/"] where line.contains(path) {
                    Issue.record("\(file):\(number + 1): names \(path)")
                }
            }
        }
    }

    @Test("documents have the agreed lengths, and decisions are numbered without a gap")
    func documents() throws {
        #expect(try Repository.read("README.md").lines.count < 200)
        #expect(try Repository.read("docs/architecture.md").lines.count <= 150)
        #expect(try Repository.read("docs/performance.md").lines.count <= 150)
        let folder = "\(Repository.top)/docs/decisions"
        let numbers = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".md") && $0 != "README.md" }.sorted().map { $0.prefix(4) }
        for (position, number) in numbers.enumerated() {
            #expect(Int(number) == position + 1, "decision \(number) is misnumbered")
        }
    }

    @Test("the top level contains only conventional files")
    func topLevel() throws {
        let expected: Set<String> = [
            "Package.swift", "Package.resolved", "Sources", "Tests", "Proto", "scripts", "docs",
            "Benchmarks", "Browser", "Clients", "Examples", "Packaging", "Plugins", "README.md",
            "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
        ]
        let found = try FileManager.default.contentsOfDirectory(atPath: Repository.top)
            .filter { !$0.hasPrefix(".") }
        #expect(Set(found).subtracting(expected).isEmpty)
    }
}
