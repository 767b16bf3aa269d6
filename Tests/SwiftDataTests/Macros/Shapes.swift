import Foundation
import SwiftData

// Models in the forms that programs declare them. That this file compiles is a test of its own.

enum Shapes {
    enum Status: String, Codable, CaseIterable { case draft, sent }
    enum Level: Int, Codable {
        case low = 1
        case high
    }

    struct Address: Codable, Hashable {
        var street = ""
        var city: String
        var built: Date?
    }

    @Model final class Everything {
        var text = "text"
        var bool: Bool = false
        var int = -1
        var small: Int8 = 8
        var unsigned: UInt64 = .max
        var float: Float = 0.5
        var double = 1.5
        var decimal = Decimal.zero
        var date = Date.now
        var distant: Date = .distantPast
        var uuid = UUID()
        var url = URL(filePath: "/tmp")
        var data = Data()
        var status = Status.draft
        var level: Level = .low
        var address = Address(city: "Bonn")
        var place: Address?
        var words = ["a", "b"]
        var numbers: Set<Int> = [3, 1, 2]
        var counts: [String: Int] = ["a": 1]
        var byStatus: [Status: Int] = [:]
        var optional: String?
        var implicit: Int!
        var generic: Optional<Double>
        var `default`: Bool = true
        private(set) var readOnly: Double = 0.25
        @Attribute(.externalStorage) var image: Data?
        @Attribute(.ephemeral) var progress: Double = 0
        @Attribute(originalName: "caption") var title: String = ""
        @Transient var isSelected = false
        @Transient var cache: [Int]?
        @Transient var isLong: Bool { text.count > 10 }
        var half: Int { int / 2 }
        var twice: Int {
            get { int * 2 }
            set { int = newValue / 2 }
        }
        static let limit = 5

        init() { generic = 2 }
    }

    /// The initial values of relationships are expressions of any form.
    @Model class Diary {
        var pages = [Page]?.some([])
        var cover: Page? = nil
        @Relationship(deleteRule: .cascade, inverse: \Page.diary) var all: [Page]

        init() { all = [] }
    }

    @Model class Page {
        var diary: Diary?
        var text: String

        init(text: String) { self.text = text }
    }

    /// A member that a program declares is not declared again.
    @Model
    public final class Own: @unchecked Sendable, Identifiable, Equatable, Hashable,
        Comparable
    {
        @Attribute(.unique) public var id: UUID
        public private(set) var rank: Int

        private init(rank: Int) {
            id = UUID()
            self.rank = rank
        }

        static func make(rank: Int) -> Own { Own(rank: rank) }

        public static func < (left: Own, right: Own) -> Bool { left.rank < right.rank }
        public static func == (left: Own, right: Own) -> Bool { left.id == right.id }
        public func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }

    @Model final class Coded: Codable {
        var x: Int

        private enum CodingKeys: String, CodingKey { case x }

        init(x: Int) { self.x = x }

        init(from decoder: any Decoder) throws {
            x = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .x)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(x, forKey: .x)
        }
    }

    @Model fileprivate final class Hidden {
        var x = 1

        init() {}
    }

    static func hiddenNames() -> [String] { Hidden.schemaMetadata.map { "\($0)" } }
}

protocol TitledModel: PersistentModel {
    var title: String { get set }
}

extension TitledModel {
    func shout() -> String { title.uppercased() }
}

enum ShapesV1 {}

extension ShapesV1 {
    @Model nonisolated public final class Item: TitledModel {
        #Unique<Item>([\.title], [\.title, \.size])
        #Index<Item>([\.size], [\.size, \.title])
        #Index<Item>(.binary([\.created]), .rtree([\.size, \.created]))

        public var title: String
        public var size: Int
        public var created: Date

        public init(title: String, size: Int = 0) {
            self.title = title
            self.size = size
            created = .now
        }

        convenience init() { self.init(title: "untitled") }
    }
}

// A hierarchy of three levels with relationships, an inverse in a subclass and an override.

@Model class Animal {
    var name: String
    var legs: Int = 4
    var owner: Keeper?

    init(name: String) { self.name = name }

    func sound() -> String { "" }
}

@Model class Dog: Animal {
    @Attribute(.unique) var chip: String?
    var isGood = true
    var friends: [Animal] = []

    init(name: String, chip: String? = nil) {
        self.chip = chip
        super.init(name: name)
        if name.isEmpty { self.isGood = false }
    }

    override func sound() -> String { "woof" }
}

@Model final class Puppy: Dog {
    var weeks: Int
    var toys: [String] = ["ball"]

    init(name: String, weeks: Int) {
        self.weeks = weeks
        super.init(name: name, chip: nil)
        legs = 4
    }
}

@Model final class Keeper {
    var name: String = ""
    @Relationship(deleteRule: .cascade, inverse: \Animal.owner) var animals: [Animal]? = []

    init(name: String) { self.name = name }
}

final class Tint: Equatable, Sendable {
    let red: UInt8

    init(red: UInt8) { self.red = red }

    static func == (left: Tint, right: Tint) -> Bool { left.red == right.red }
}

final class TintTransformer: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { Tint.self }

    override func transformedValue(_ value: Any?) -> Any? {
        (value as? Tint).map { Data([$0.red]) }
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data)?.first.map { Tint(red: $0) }
    }
}

@Model final class Painted {
    @Attribute(.transformable(by: TintTransformer.self)) var tint: Tint = Tint(red: 1)
    @Attribute(.transformable(by: "TintTransformer"), originalName: "old") var other: Tint?

    init() {}
}

@ModelActor public actor ShapeHandler {
    func insert(_ title: String) throws -> PersistentIdentifier {
        let item = ShapesV1.Item(title: title)
        modelContext.insert(item)
        try modelContext.save()
        return item.persistentModelID
    }

    func title(of identifier: PersistentIdentifier) -> String? {
        self[identifier, as: ShapesV1.Item.self]?.title
    }
}

@ModelActor actor GenericHandler<Model: PersistentModel> {
    private var type: Model.Type?

    func count() throws -> Int { try modelContext.fetchCount(FetchDescriptor<Model>()) }
}

@ModelActor actor MainHandler {
    @MainActor
    init(modelContainer: ModelContainer, mainActor _: Bool) {
        let context = modelContainer.mainContext
        modelExecutor = DefaultSerialModelExecutor(modelContext: context)
        self.modelContainer = modelContainer
    }
}
