import SwiftSyntax
import Testing

@Suite("@Model expands to storage, metadata and conformances")
struct ModelExpansionTests {
    @Test("@Model makes a property an element of the metadata, with its default and its options")
    func metadata() {
        let expansion = MacroExpansion(
            """
            @Model final class Item {
                @Attribute(.unique, originalName: "name") var title: String
                var made: Date = .now
                var count = 60 * 60
                var tags: [Tag] = []
                var note: String! = nil
                @Relationship(deleteRule: .cascade, inverse: \\Part.item) var parts: [Part]?
                @SwiftData.Relationship var other: Item?
                var `default` = true
                init() {}
            }
            """)
        #expect(expansion.messages == [])
        for expected in [
            #"""
            name: "title", keypath: \Item.title, defaultValue: nil,
            metadata: SwiftData.Schema.Attribute(.unique, originalName: "name")
            """#,
            #"name: "made", keypath: \Item.made, defaultValue: (.now) as Date, metadata: nil"#,
            #"name: "count", keypath: \Item.count, defaultValue: 60 * 60, metadata: nil"#,
            #"name: "tags", keypath: \Item.tags, defaultValue: ([]) as [Tag], metadata: nil"#,
            #"name: "note", keypath: \Item.note, defaultValue: (nil) as String?, metadata: nil"#,
            #"""
            metadata: SwiftData.Schema.Relationship(deleteRule: .cascade, inverse: \Part.item)
            """#,
            "metadata: SwiftData.Schema.Relationship()",
            #"name: "default", keypath: \Item.`default`"#,
            #"["made", "tags", "note", "default"]"#,
        ] {
            #expect(expansion.contains(expected), "\(expected)\n\(expansion.source)")
        }
    }

    @Test("@Model numbers the slots of the persisted properties only")
    func slots() {
        let expansion = MacroExpansion(
            """
            @Model final class Item {
                static var shared = 1
                var first: Int = 0
                var computed: Int { 1 }
                @Transient var hidden = 1
                @Attribute(.transformable(by: "T")) var second: Color
                var third: Int = 0
                init() {}
            }
            """)
        #expect(expansion.contains("@SwiftData._PersistedProperty(0) var first"))
        #expect(
            expansion.contains(
                "@SwiftData._TransformablePersistedProperty(1) var second"))
        #expect(expansion.contains("@SwiftData._PersistedProperty(2) var third"))
        #expect(expansion.contains(#"case 2: self._$object.notify(self, \Item.third)"#))
        #expect(!expansion.contains("var computed: Int { 1 }\n@SwiftData"))
        #expect(!expansion.contains(#"\Item.hidden"#))
        #expect(!expansion.contains(#"\Item.shared"#))
    }

    @Test("@Model puts #Unique and #Index after the properties in the metadata")
    func constraints() {
        let expansion = MacroExpansion(
            """
            @Model class Item {
                #Unique<Item>([\\.name], [\\.name, \\.code])
                #Index<Item>(.binary([\\.size, \\.name]))
                var name: String = ""
                var code: String = ""
                init() {}
            }
            """)
        #expect(
            expansion.contains(
                #"""
                name: "SwiftData.Schema.Unique", keypath: \SwiftData.Schema.encodingVersion,
                defaultValue: nil,
                metadata: SwiftData.Schema.Unique<Item>([\.name], [\.name, \.code])
                """#), "\(expansion.source)")
        // The macro does not know whether it is a property of the superclass.
        #expect(
            expansion.contains(
                #"""
                defaultValue: ["size", "name"],
                metadata: SwiftData.Schema.Index<Item>(.binary([\.size, \.name]))
                """#), "\(expansion.source)")
    }

    @Test("@Model gives a final class static members, and other classes members to override")
    func finality() {
        let final = MacroExpansion("@Model final class Item { init() {} }")
        #expect(final.contains("public static var schemaMetadata"))
        #expect(final.contains("public var _$context: SwiftData.ModelContext?"))
        #expect(final.contains("public init(_$object: SwiftData._StoredObject)"))
        #expect(
            final.contains(
                "public convenience init( backingData: any SwiftData.BackingData<Item> )"))
        let open = MacroExpansion("@Model open class Item { init() {} }")
        #expect(open.contains("open class var schemaMetadata"))
        #expect(open.contains("open func _$notify"))
        #expect(open.contains("public final var _$context: SwiftData.ModelContext?"))
        #expect(open.contains("public required init(_$object: SwiftData._StoredObject)"))
        #expect(open.contains("public required convenience init( backingData:"))
        let plain = MacroExpansion("@Model class Item { init() {} }")
        #expect(plain.contains("public class var schemaMetadata"))
    }

    @Test("@Model gives a subclass of a model a level of values of its own")
    func subclass() {
        let expansion = MacroExpansion(
            """
            @Model class Dog: Animal {
                var breed: String
                init() {}
            }
            """, conformances: ModelConformances.ofSubclass)
        for expected in [
            "private final var _$object_Dog: SwiftData._StoredObject?",
            "if let object = _$object_Dog { return object }",
            "private static let _$firstSlot_Dog = SwiftData._slotCount(of: Animal.self)",
            """
            public required init(_$object: SwiftData._StoredObject) {
            _breed = .init() _$object_Dog = _$object super.init(_$object: _$object) }
            """,
            """
            public required convenience init( backingData: any SwiftData.BackingData<Dog.Root> ) {
            self.init(_$object: SwiftData._object(of: backingData)) }
            """,
            "public override class var schemaMetadata",
            "public override func _$notify(slot: Swift.Int)",
            "default: super._$notify(slot: slot)",
            "if let level = _$object_Dog { _$object.unite(with: level) }",
        ] {
            #expect(expansion.contains(expected), "\(expected)\n\(expansion.source)")
        }
        #expect(!expansion.contains("_$context"))
        #expect(!expansion.contains("persistentBackingData"))
        #expect(!expansion.contains("extension Dog"))
    }

    @Test("@Model declares only the conformances that the compiler requires")
    func conformances() {
        let all = MacroExpansion("@Model class Item { init() {} }")
        for expected in [
            "extension Item: nonisolated SwiftData.PersistentModel",
            "extension Item: nonisolated Observation.Observable",
            "extension Item: nonisolated SwiftData._ModelRoot",
            "extension Item: Sendable",
            "PersistentModels are not Sendable, consider utilizing a ModelActor or use Item's",
        ] {
            #expect(all.contains(expected), "\(expected)\n\(all.source)")
        }
        let some = MacroExpansion(
            "@Model class Item: @unchecked Sendable { init() {} }",
            conformances: ["SwiftData.PersistentModel", "SwiftData._ModelRoot"])
        #expect(some.contains("extension Item: nonisolated SwiftData.PersistentModel"))
        #expect(!some.contains("extension Item: Sendable"))
        #expect(!some.contains("Observable"))
    }

    @Test("@Model makes accessors that call the storage of the class with the slot")
    func accessors() {
        let expansion = MacroExpansion(
            """
            class Item {
                @_PersistedProperty(3) public private(set) var `default`: Int = 0
                @_TransformablePersistedProperty(4) var color: Color
                @_PersistedProperty(5) var note: String?
            }
            """)
        for expected in [
            """
            @storageRestrictions(accesses: _$object_Item, initializes: _default)
            init(initialValue) {
            """,
            #"at: Item._$firstSlot_Item + 3, \Item.`default`, to: initialValue)"#,
            #"_$values_Item.getValue(of: self, \Item.`default`, at: Item._$firstSlot_Item + 3)"#,
            #"""
            _$values_Item.setTransformableValue(of: self, \Item.color,
            at: Item._$firstSlot_Item + 4, to: newValue)
            """#,
            "private var _default: SwiftData._NoType = .init()",
            "private var _color: SwiftData._NoType",
            "private var _note: SwiftData._NoType = .init()",
        ] {
            #expect(expansion.contains(expected), "\(expected)\n\(expansion.source)")
        }
        #expect(!expansion.contains("var _color: SwiftData._NoType = .init()"))
    }

    @Test("@ModelActor gives an actor its executor, its container and an initializer")
    func modelActor() {
        let expansion = MacroExpansion(
            """
            @ModelActor public actor Handler {
                init(modelContainer: ModelContainer, mainActor _: Bool) {}
            }
            """)
        for expected in [
            "public nonisolated let modelExecutor: any SwiftData.ModelExecutor",
            "public nonisolated let modelContainer: SwiftData.ModelContainer",
            "public init(modelContainer: SwiftData.ModelContainer) {",
            "extension Handler: SwiftData.ModelActor",
        ] {
            #expect(expansion.contains(expected), "\(expected)\n\(expansion.source)")
        }
        let own = MacroExpansion(
            "@ModelActor actor Handler { init(modelContainer: ModelContainer) {} }")
        #expect(own.contains("nonisolated let modelExecutor"))
        #expect(!own.contains("init(modelContainer: SwiftData.ModelContainer)"))
    }
}
