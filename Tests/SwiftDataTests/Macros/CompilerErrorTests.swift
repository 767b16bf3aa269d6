import Testing

/// The compiler's messages about mistakes in models, and none about correct ones.
@Suite("The compiler finds mistakes in models")
struct CompilerErrorTests {
    @Test("a property whose type cannot be persisted is a compiler error that says what to do")
    func unsupportedTypes() throws {
        let errors = try ModelCompiler.errors(
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
        let errors = try ModelCompiler.errors(
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
        let errors = try ModelCompiler.errors(
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
        let stored = try ModelCompiler.errors(declaration + "struct S: Sendable { let item: Item }")
        #expect(stored.count == 1)
        #expect(stored.allSatisfy { $0.contains("non-Sendable type 'Item'") })
        let sent = try ModelCompiler.errors(
            declaration
                + """
                func send(_ item: Item) { Task.detached { print(item.x) } }
                """)
        #expect(sent.count == 1)
        let context = try ModelCompiler.errors(
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
        #expect(try ModelCompiler.errors(source).count == 1)
        let conformance = "extension FetchResultsCollection: @retroactive @unchecked Sendable {}"
        #expect(try ModelCompiler.errors(source + conformance) == [])
    }

    @Test("models compile in a module whose default isolation is the main actor")
    func mainActor() throws {
        let errors = try ModelCompiler.errors(
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
        #expect(try ModelCompiler.errors(plain) == [])
        let extra = source.replacing("MEMBER", with: "b = 3")
        #expect(try ModelCompiler.errors(extra, ["-D", "EXTRA"]) == [])
    }
}
