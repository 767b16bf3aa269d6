import Testing

@Suite("The macros report what is wrong with a declaration")
struct ModelDiagnosticTests {
    @Test(
        "each error of the model macros names the declaration and says what to do",
        arguments: [
            ("@Model struct Item {}", "'@Model' cannot be applied to struct type 'Item'"),
            ("@Model actor Item {}", "'@Model' cannot be applied to actor type 'Item'"),
            ("@ModelActor class Item {}", "'@ModelActor' cannot be applied to class type 'Item'"),
            (
                "@ModelActor struct Item {}",
                "'@ModelActor' cannot be applied to struct type 'Item'"
            ),
            (
                "@Model class Item<T> { init() {} }",
                "'@Model' cannot be applied to generic class 'Item'"
            ),
            (
                "@Model class Item { var x = 1 }",
                "@Model requires an initializer be provided for 'Item'"
            ),
            (
                "@Model class Item { @Transient var x: Int; init() {} }",
                "@Transient requires non-optional property 'x' to have a default value"
            ),
            (
                "@Model class Item { var a, b: Int; init() {} }",
                "declare each persisted property by a 'var' of its own"
            ),
            (
                "@Model class Item { var (a, b) = (1, 2); init() {} }",
                "declare each persisted property by a 'var' of its own"
            ),
            (
                "@Model class Item { lazy var x = 1; init() {} }",
                "'x' cannot be lazy; mark it with @Transient to keep it out of the store"
            ),
            (
                "@Model class Item { weak var x: Item?; init() {} }",
                """
                'x' cannot be weak, because the store keeps related objects; \
                remove 'weak' or mark it with @Transient
                """
            ),
            (
                "@Model class Item { unowned(unsafe) var x: Item; init() {} }",
                """
                'x' cannot be unowned, because the store keeps related objects; \
                remove 'unowned' or mark it with @Transient
                """
            ),
            (
                "@Model class Item { let x = Date(); init() {} }",
                """
                the constant 'x' has an initial value that the store cannot replace in a model \
                that it reads; set 'x' in the initializers, or write 'private(set) var'
                """
            ),
            (
                "@Model class Item { @Attribute(.unique) @Attribute(originalName: \"y\") "
                    + "var x = 1; init() {} }",
                "write all options of 'x' in one @Attribute or @Relationship"
            ),
            (
                """
                @Model class Item {
                    #if canImport(Other)
                    @Transient
                    #endif
                    var x = 1
                    init() {}
                }
                """,
                """
                @Model cannot evaluate the condition 'canImport(Other)' of @Transient of 'x'; \
                declare the whole property in each clause of the #if
                """
            ),
            (
                "@Model class Item { @Attribute @Relationship var x: Item?; init() {} }",
                "'x' cannot be both an attribute and a relationship"
            ),
            (
                "@Model class Item { #Index<Item>([\\.a, \\.x]); var a = 1; "
                    + "var x: Int { a }; init() {} }",
                "'x' is not persisted, so #Index cannot name it"
            ),
            (
                "@Model class Item { #Unique<Item>([\\Item.x]); @Transient var x = 1; "
                    + "init() {} }",
                "'x' is not persisted, so #Unique cannot name it"
            ),
        ])
    func errors(declaration: String, message: String) {
        let expansion = MacroExpansion(declaration)
        #expect(expansion.messages == [message])
        #expect(!expansion.contains("schemaMetadata"))
        #expect(!expansion.contains("extension"))
    }

    @Test("all problems of a model class are reported together")
    func several() {
        let expansion = MacroExpansion("@Model class Item { let x = Date(); lazy var y = 1 }")
        #expect(expansion.messages.count == 3)
    }

    @Test("an empty list of #Unique or #Index is a warning")
    func emptyLists() {
        let expansion = MacroExpansion(
            """
            @Model class Item {
                #Unique<Item>([\\.x], [])
                #Index<Item>(.binary([]), .rtree([\\.x]))
                #Unique<Item>()
                var x = 1
                init() {}
            }
            """)
        #expect(expansion.messages == [])
        #expect(
            expansion.warnings == [
                "a list of #Unique names no property, so it has no effect; remove it",
                "a list of #Index names no property, so it has no effect; remove it",
                "#Unique names no property, so it has no effect; remove it",
            ])
        let full = MacroExpansion(
            "@Model class Item { #Unique<Item>([\\.x]); var x = 1; init() {} }")
        #expect(full.warnings == [])
    }

    @Test("@Model has no effect on an enum")
    func enumeration() {
        let expansion = MacroExpansion("@Model enum Item { case a }")
        #expect(expansion.messages == [])
        #expect(expansion.contains("enum Item { case a }"))
        #expect(!expansion.contains("extension"))
    }

    @Test("a transient variable may be lazy, weak, constant or one of several")
    func transient() {
        let expansion = MacroExpansion(
            """
            @Model class Item {
                @Transient lazy var a = 1
                @Transient weak var b: Item?
                @Transient let c = 1
                @Transient var (d, e) = (1, 2)
                init() {}
            }
            """)
        #expect(expansion.messages == [])
        #expect(!expansion.contains("_PersistedProperty"))
    }
}
