import Foundation
import SwiftData

// Properties in every form in which Swift declares them. That this file compiles is a test of its
// own.

enum Forms {
    struct Size: Codable, Equatable {
        var width = 1.5
        var unit: String?
    }

    /// Attributes and properties under conditions, some of which the macro cannot evaluate.
    @Model final class Conditional {
        #if canImport(SwiftData)
        #Unique<Conditional>([\.key, \.code])
        #endif
        #if canImport(NoSuchModule)
        #Unique<Conditional>([\.missing])
        var missing = 1
        lazy var invalid = 1
        #endif

        #if DEBUG || !DEBUG
        @Attribute(.unique)
        #endif
        var key = 0
        #if canImport(SwiftData)
        @Transient
        #endif
        var hidden = 1
        #if canImport(Glibc)
        @Attribute(originalName: "old")
        #elseif canImport(Darwin)
        @Attribute(originalName: "older")
        #endif
        var code = "a"
        #if canImport(NoSuchModule)
        @Attribute(originalName: "wrong")
        #else
        @Attribute(.preserveValueOnDeletion)
        #endif
        var kept = "b"

        #if canImport(NoSuchModule)
        var picture: UIImage
        var title = 1
        #elseif canImport(Dispatch)
        var title = "default"
        #if canImport(Glibc)
        var made: Date?
        #endif
        var size = Size()
        @Relationship(deleteRule: .cascade, inverse: \Part.whole) var parts: [Part] = []
        #else
        var title: Double = 1
        #endif
        var last = true

        init(key: Int) { self.key = key }
    }

    @Model final class Part {
        var whole: Conditional?

        init() {}
    }

    /// A hierarchy whose superclass has a property under a condition.
    @Model class Base {
        #if canImport(Glibc)
        var platform: String
        #endif
        var name = "base"
        let serial: Int

        init(serial: Int) {
            #if canImport(Glibc)
            platform = "Linux"
            #endif
            self.serial = serial
        }
    }

    @Model final class Derived: Base {
        var own = 1
        let code: String
        override var name: String {
            didSet { changes += 1 }
        }
        @Transient var changes = 0

        init(code: String) {
            self.code = code
            super.init(serial: 7)
        }
    }

    @Model final class Observed {
        var count = 0 {
            willSet { log.append("will \(newValue)") }
            didSet {
                log.append("did \(oldValue)")
                // An assignment to the property itself does not call the observers.
                count = min(count, 10)
            }
        }
        var title: String {
            didSet(former) {
                guard former != title else { return }
                log.append("\(former) to \(title)")
            }
        }
        var parts: [Piece] = [] { didSet { log.append("\(oldValue.count) pieces") } }
        @Attribute(.transformable(by: TintTransformer.self)) var tint = Tint(red: 1) {
            willSet { log.append("tint \(newValue.red)") }
        }
        @Transient var log: [String] = []

        init(title: String) { self.title = title }
    }

    @Model final class Piece {
        var owner: Observed?

        init() {}
    }

    @Model final class Constants {
        #Unique<Constants>([\.id])
        let id: UUID
        let made: Date
        let size: Size?
        let tags: [String]
        let kind = "constant"
        let optional: Int?
        public let open: Double
        @Attribute(originalName: "former") let renamed: Bool
        @Attribute(.transformable(by: TintTransformer.self)) let tint: Tint
        var other = 1

        init(_ other: Int) {
            id = UUID()
            made = Date(timeIntervalSinceReferenceDate: 5)
            size = Size(width: 2, unit: "m")
            tags = ["a", "b"]
            optional = nil
            open = 0.5
            renamed = true
            tint = Tint(red: 9)
            self.other = other
        }
    }

    /// Names and modifiers.
    @Model public final class Modifiers {
        public var open = 1
        package var inPackage = 1
        internal var inModule = 1
        fileprivate(set) var readable = 1
        private(set) var settable = 1
        private var secret = 1
        final var fixed = 1
        nonisolated var free = 1
        @available(*, message: "for tests") var old = 1
        var `default` = 1
        var `two words` = 1
        // swift-format-ignore: IdentifiersMustBeASCII
        var größe = 1
        // swift-format-ignore: IdentifiersMustBeASCII
        var 数 = 1
        var _x = 1
        var implicit: Int! = 1
        var long: Swift.Optional<Swift.Int> = 1
        var dictionary: [String: [Int]] = ["a": [1]]
        var nested: Forms.Size = .init()

        static let shared = 1
        class var computed: Int { 1 }
        var twice: Int { secret * 2 }
        @Transient lazy var later = 1
        @Transient weak var owner: Modifiers?

        init() {}

        func set(_ value: Int) {
            open = value
            inPackage = value
            inModule = value
            readable = value
            settable = value
            secret = value
            fixed = value
            free = value
            old = value
            `default` = value
            `two words` = value
            größe = value
            数 = value
            _x = value
            implicit = value
            long = value
            dictionary = ["a": [value]]
            nested.width = Double(value)
        }

        var values: [Int] {
            [
                open, inPackage, inModule, readable, settable, secret, fixed, free, old, `default`,
                `two words`, größe, 数, _x, implicit ?? 0, long ?? 0, dictionary["a"]?[0] ?? 0,
                Int(nested.width),
            ]
        }
    }
}

extension Forms.Modifiers {
    var half: Int { open / 2 }
}

/// Constraints without properties, which the macro does not see.
@Model final class EmptyLists {
    #Unique<EmptyLists>([\.id], EmptyLists.none)
    #Index<EmptyLists>(EmptyLists.none)
    static var none: [PartialKeyPath<EmptyLists>] { [] }
    var id = 1

    init() {}
}
