import Foundation
import Glibc
import Testing

/// What the compiler says of mistakes in models, and that it says nothing of correct ones.
@Suite("The compiler finds mistakes in models")
struct CompilerErrorTests {
    @Test("a property whose type cannot be persisted is a compiler error that says what to do")
    func unsupportedTypes() throws {
        let errors = try compilerErrors(
            """
            class Plain {}
            @Model final class Item {
                var plain: Plain?
                init() {}
            }
            """)
        #expect(!errors.isEmpty)
        #expect(errors.allSatisfy { $0.contains("a persisted property is Codable, a model or") })
    }

    @Test("a set of models is a compiler error that suggests an array")
    func sets() throws {
        let errors = try compilerErrors(
            """
            @Model final class Item {
                var others: Set<Item> = []
                init() {}
            }
            """)
        #expect(!errors.isEmpty)
        #expect(errors.allSatisfy { $0.contains("an array of models, not a Set of them") })
    }

    @Test("a property that an initializer does not set is a compiler error")
    func uninitialized() throws {
        let errors = try compilerErrors(
            """
            @Model final class Item {
                var name: String
                init() {}
            }
            """)
        #expect(errors.count == 1)
        #expect(errors.allSatisfy { $0.contains("without initializing all stored properties") })
    }

    @Test("a model that leaves its actor is a compiler error")
    func sendable() throws {
        let declaration = """
            @Model final class Item { var x = 1; init() {} }

            """
        let stored = try compilerErrors(declaration + "struct S: Sendable { let item: Item }")
        #expect(stored.count == 1)
        #expect(stored.allSatisfy { $0.contains("non-Sendable type 'Item'") })
        let sent = try compilerErrors(
            declaration
                + """
                func send(_ item: Item) { Task.detached { print(item.x) } }
                """)
        #expect(sent.count == 1)
        let context = try compilerErrors(
            declaration
                + """
                func save(_ context: ModelContext) { Task.detached { try context.save() } }
                """)
        #expect(context.count == 1)
    }

    @Test("results of a fetch in batches leave their actor only if the program declares it")
    func results() throws {
        let source = """
            @Model final class Item { var x = 1; init() {} }
            struct Page: Sendable { let items: FetchResultsCollection<Item> }

            """
        #expect(try compilerErrors(source).count == 1)
        let conformance = "extension FetchResultsCollection: @retroactive @unchecked Sendable {}"
        #expect(try compilerErrors(source + conformance) == [])
    }

    @Test("models compile in a module whose default isolation is the main actor")
    func mainActor() throws {
        let errors = try compilerErrors(
            """
            @Model final class Item { var x = 1; var other: Other?; init() {} }
            @Model class Other { var made = Date.now; var items: [Item] = []; init() {} }
            @Model nonisolated final class Third { var x = 1; init() {} }
            final class Screen {
                func show(_ context: ModelContext) throws -> Int {
                    let item = Item()
                    context.insert(item)
                    item.x = 2
                    return try context.fetchCount(
                        FetchDescriptor<Item>(predicate: #Predicate { $0.x > 1 }))
                }
            }
            """, ["-default-isolation", "MainActor"])
        #expect(errors == [])
    }

    @Test("conditional properties are persisted by the build configuration")
    func conditional() throws {
        let source = """
            @Model final class Item {
                var a: Int = 0
                #if EXTRA
                var b: Int = 1
                #else
                var c: String = ""
                #endif
                var d: Int = 2
                init() {}
            }
            func f(_ item: Item) { item.MEMBER }
            """
        let plain = source.replacing("MEMBER", with: #"c = "x""#)
        #expect(try compilerErrors(plain) == [])
        let extra = source.replacing("MEMBER", with: "b = 3")
        #expect(try compilerErrors(extra, ["-D", "EXTRA"]) == [])
    }

    /// The errors of the compiler for a file that imports the modules of this build.
    private func compilerErrors(
        _ source: String, _ options: [String] = []
    ) throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "larder-models-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "Models.swift").path
        try "import Foundation\nimport SwiftData\n\(source)\n".write(
            toFile: file, atomically: true, encoding: .utf8)
        let build = try Self.buildFolder()
        let maps = try Self.moduleMaps(build)
        let arguments =
            [
                "swiftc", "-emit-sil", "-o", "/dev/null", "-parse-as-library", "-swift-version",
                "6", "-no-color-diagnostics", "-diagnostic-style", "llvm", "-package-name",
                "test", "-I", "\(build)/Modules",
                "-load-plugin-executable", "\(build)/SwiftDataMacros-tool#SwiftDataMacros",
            ] + options
            + maps.flatMap {
                ["-Xcc", "-fmodule-map-file=\($0)"]
            }
        let command = (arguments + [file]).map { "'\($0)'" }.joined(separator: " ")
        return try Self.output(of: command).split(separator: "\n").filter {
            $0.contains("error:")
        }.map(String.init)
    }

    /// The folder of this program's modules.
    private static func buildFolder() throws -> String {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return "/" + program.split(separator: "/").dropLast().joined(separator: "/")
    }

    /// The module maps of all C modules on which SwiftData depends.
    private static func moduleMaps(_ build: String) throws -> [String] {
        let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let built = try FileManager.default.contentsOfDirectory(atPath: build)
            .filter { $0.hasSuffix(".build") && !$0.hasSuffix("-tool.build") }
            .map { "\(build)/\($0)/module.modulemap" }
        let own = try FileManager.default.contentsOfDirectory(atPath: "\(root)/Sources")
            .map { "\(root)/Sources/\($0)/module.modulemap" }
        let checkouts = "\(root)/.build/checkouts"
        let others = [
            "\(checkouts)/swift-atomics/Sources/_AtomicsShims/include/module.modulemap",
            "\(checkouts)/swift-nio/Sources/CNIOWindows/include/module.modulemap",
        ]
        return (built + own + others).filter { FileManager.default.fileExists(atPath: $0) }
    }

    private static func output(of command: String) throws -> String {
        let pipe = try #require(popen(command + " 2>&1", "r"))
        defer { pclose(pipe) }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, pipe)
            if count == 0 { return String(decoding: output, as: UTF8.self) }
            output += buffer[..<count]
        }
    }
}
