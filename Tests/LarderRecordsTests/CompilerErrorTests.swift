import FoundationEssentials
import Glibc
import Testing

/// The compiler's messages about mistakes in code with record types.
@Suite("The compiler finds misspelt properties and wrong types")
struct CompilerErrorTests {
    private static let declarations = """
        import FoundationEssentials
        import LarderRecords

        @Entity struct Author {
            var id: PersistentIdentifier?
            var name: String
        }

        @Entity struct Book {
            var id: PersistentIdentifier?
            var title: String
            var pages: Int = 0
            var author: Ref<Author>
        }
        """

    /// A statement and a part of the error; nil if it compiles.
    private static let statements: [(String, String?)] = [
        (#"_ = try store.fetch(Book.self, where: #Predicate { $0.author.name == "Ann" })"#, nil),
        (
            #"_ = try store.fetch(Book.self, where: #Predicate { $0.titel == "A" })"#,
            "cannot"
        ),
        (
            #"_ = try store.fetch(Book.self, where: #Predicate<Book.Fields> { $0.titel == "" })"#,
            "value of type 'Book.Fields' has no member 'titel'"
        ),
        (
            #"_ = try store.fetch(Book.self, where: #Predicate { $0.pages == "many" })"#,
            "cannot be applied to operands of type 'Int' and 'String'"
        ),
        (
            #"let _ = #Predicate<Book.Fields> { $0.author.surname == "Ann" }"#,
            "value of type 'Author.Fields' has no member 'surname'"
        ),
        ("_ = try store.fetch(Book.self, sort: [.init(\\.pages)])", nil),
        (
            "_ = try store.fetch(Book.self, sort: [.init(\\.page)])",
            "cannot infer key path type"
        ),
        ("try store.update(\\.pages, of: book, to: 300)", nil),
        ("try store.update(\\.pages, of: book, to: \"many\")", "'String'"),
        ("try store.update(\\.author, of: book, to: book)", "Ref<Book>"),
        ("_ = Book(title: \"A\", author: author)", nil),
        ("_ = Book(title: \"A\")", "missing argument for parameter 'author' in call"),
        (
            "let _: [(String, Int)] = try store.aggregate(Book.self, .group(\\.title), .count)",
            nil
        ),
        (
            "let _: [(Int, Int)] = try store.aggregate(Book.self, .group(\\.title), .count)",
            "String"
        ),
        (
            "_ = try store.object(for: author)?.title",
            "value of type 'Author' has no member 'title'"
        ),
        ("try store.modify(book) { $0.pages += 1 }", nil),
        ("try store.modify(book) { $0.page += 1 }", "value of type 'Book' has no member 'page'"),
    ]

    @Test("the compiler rejects each wrong use of a record at its line, and nothing else")
    func statements() throws {
        var source = Self.declarations + "\n"
        for (number, (statement, _)) in Self.statements.enumerated() {
            source += """
                func f\(number)(
                    _ store: StoreClient, _ book: Ref<Book>, _ author: Ref<Author>
                ) throws {
                    \(statement)
                }

                """
        }
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        let output = try compilerOutput(source)
        for (statement, message) in Self.statements {
            let line = try #require(lines.firstIndex { $0.hasSuffix(statement) }) + 1
            let errors = output.split(separator: "\n").filter {
                $0.hasPrefix("/") && $0.contains(".swift:\(line):") && $0.contains("error:")
            }
            if let message {
                #expect(
                    errors.contains { $0.contains(message) },
                    "\(statement)\n\(errors.joined(separator: "\n"))")
            } else {
                #expect(errors.isEmpty, "\(statement)\n\(errors.joined(separator: "\n"))")
            }
        }
    }

    @Test("a property of a type that cannot be stored is a compiler error that names the cause")
    func unsupportedType() throws {
        let output = try compilerOutput(
            """
            import LarderRecords
            final class Cover {}
            @Entity struct Book {
                var id: PersistentIdentifier?
                var cover: Cover
            }
            """)
        #expect(output.contains("a property of an entity has an attribute type"), "\(output)")
    }

    @Test("the Swift examples of the documentation of records compile")
    func documentation() throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let text = try String(contentsOfFile: "/\(root)/docs/records.md", encoding: .utf8)
        let blocks = text.split(separator: "```swift\n").dropFirst().compactMap {
            $0.split(separator: "```", maxSplits: 1).first
        }
        .filter { !$0.contains("import LarderTesting") }  // It needs the modules of the server.
        #expect(blocks.count == 6)
        let isDeclaration = { (block: Substring) in block.hasPrefix("import") }
        var source = blocks.filter(isDeclaration).joined(separator: "\n")
        source += """

            func examples(_ store: StoreClient, client: StoreClient) throws {
            \(blocks.filter { !isDeclaration($0) && !$0.contains("await") }.joined())
            }
            """
        for (number, block) in blocks.filter({ $0.contains("await") }).enumerated() {
            source += "\nfunc example\(number)(_ store: StoreClient) async throws {\n"
            source += block.replacing("try store", with: "try await store")
                .replacing("in try await store.observe", with: "in try store.observe")
            source += "}\n"
        }
        let errors = try compilerOutput(source).split(separator: "\n").filter {
            $0.contains("error:")
        }
        #expect(errors.isEmpty, "\(errors.joined(separator: "\n"))")
    }

    /// The compiler's output for a file that imports the modules of this build.
    private func compilerOutput(_ source: String) throws -> String {
        let folder = "\(FileManager.default.temporaryDirectory.path)/larder-records-\(UUID())"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try source.write(toFile: "\(folder)/main.swift", atomically: true, encoding: .utf8)
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let build = program.split(separator: "/").dropLast().joined(separator: "/")
        let maps = ["CLarderProto.build/module.modulemap"].map { "/\(build)/\($0)" }
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let systemMaps = ["CProtobufC", "CLinux"].map { "/\(root)/Sources/\($0)/module.modulemap" }
        let arguments =
            [
                "swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6",
                "-no-color-diagnostics", "-diagnostic-style", "llvm", "-package-name", "test", "-I",
                "/\(build)/Modules", "-Xcc", "-I/\(root)/Sources/CLarderProto/include",
                "-load-plugin-executable",
                "/\(build)/LarderRecordMacros-tool#LarderRecordMacros",
            ] + (maps + systemMaps).flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
        let command = (arguments + ["\(folder)/main.swift"]).map { "'\($0)'" }
        let pipe = try #require(popen(command.joined(separator: " ") + " 2>&1", "r"))
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, pipe)
            if count == 0 { break }
            output += buffer[..<count]
        }
        pclose(pipe)
        return String(decoding: output, as: UTF8.self)
    }
}
