import Foundation
import Testing

/// The tables in docs/swiftdata-symbols.md: each public symbol of the module has a row with its
/// state.
@Suite("The symbols of SwiftData")
struct SymbolTests {
    private struct Row {
        let name: String
        let state: String

        /// Whether the symbol does what the framework's one does, or what this module says.
        var works: Bool { state == "works" || state == "only here" }
    }

    private static let page = "docs/swiftdata-symbols.md"

    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func sources(in folder: String) throws -> [String] {
        let folder = root.appending(path: folder)
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") }.sorted()
            .map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
    }

    /// Identifiers and the undo manager are declared in other modules, which this one exports.
    private static func symbols() throws -> [PublicSymbol] {
        let identifiers = try sources(in: "Sources/LarderModel/Identifiers").filter {
            $0.contains("struct PersistentIdentifier")
                || $0.contains("extension PersistentIdentifier")
        }
        let undo = try sources(in: "Sources/LarderObjects/Undo").filter {
            $0.contains("class UndoManager")
        }
        return PublicSymbols.of(try sources(in: "Sources/SwiftData") + identifiers + undo)
    }

    private static func rows() throws -> [Row] {
        let text = try String(
            contentsOf: root.appending(path: page), encoding: .utf8)
        return text.split(separator: "\n").compactMap { line in
            guard let match = line.wholeMatch(of: /\| `([^`]+)` \| (.+) \|/) else { return nil }
            return Row(name: String(match.1), state: String(match.2))
        }
    }

    @Test("each public symbol of SwiftData has one row in docs/swiftdata-symbols.md")
    func rows() throws {
        let rows = try Self.rows()
        #expect(rows.count > 400)
        let names = Dictionary(grouping: rows, by: \.name)
        for (name, rows) in names where rows.count > 1 {
            Issue.record("\(Self.page): \(name) has \(rows.count) rows")
        }
        for row in rows {
            let hasReason = ["accepted: ", "no effect: ", "missing: "].contains {
                row.state.hasPrefix($0)
            }
            #expect(row.works || hasReason, "\(row.name): \(row.state)")
        }
        let symbols = try Self.symbols()
        for symbol in symbols where names[symbol.name] == nil {
            Issue.record("\(Self.page): no row for `\(symbol.name)`")
        }
        let known = Set(symbols.map(\.name))
        for row in rows {
            let isMissing = row.state.hasPrefix("missing: ")
            #expect(
                known.contains(row.name) != isMissing,
                "\(Self.page): `\(row.name)` is \(isMissing ? "not missing" : "no symbol")")
        }
    }

    @Test("each public symbol that works is used in a test, by its name and its labels")
    func uses() throws {
        let uses = SymbolUses(try Self.sources(in: "Tests/SwiftDataTests"))
        let working = Set(try Self.rows().filter(\.works).map(\.name))
        for symbol in try Self.symbols() where working.contains(symbol.name) {
            #expect(uses.contains(symbol), "no test uses \(symbol.name)")
        }
    }

    @Test("public symbols are found with their types and labels, and only those")
    func collecting() {
        let symbols = PublicSymbols.of([
            """
            public struct A: P, Hashable {
                public let x: Int
                let hidden: Int
                public init(_ x: Int, more: Int...) {}
                public func f(_ a: Int, by b: Int = 1) {}
                public func required() {}
                public func hash(into hasher: inout Hasher) {}
                public func _internal() {}
                @available(*, unavailable) public func gone() {}
                public struct B { public subscript(name name: Int) -> Int { 1 } }
            }
            public protocol P { func required() }
            extension A.B { public static var y: Int { 1 } }
            extension Int { public var other: Int { 1 } }
            struct Hidden { public var z: Int }
            public enum E { case one(Int), two }
            """
        ])
        #expect(
            symbols.map(\.name) == [
                "A", "A.x", "A.init(_:more:)", "A.f(_:by:)", "A.B", "A.B.subscript(name:)", "P",
                "P.required()", "A.B.y", "E", "E.one", "E.two",
            ])
    }

    @Test(
        "a call counts as a use of a public function only if its labels fit",
        arguments: [
            ("a.f(1)", true), ("a.f(1, by: 2)", true), ("a.f(1, to: 2)", false),
            ("a.f(by: 2)", false), ("a.f(1) { 2 }", true), ("f", false), ("a.g(1)", false),
        ])
    func matching(text: String, isUse: Bool) {
        let symbols = PublicSymbols.of([
            "public struct A { public func f(_ a: Int, by b: Int = 1) {} }"
        ])
        #expect(SymbolUses([text]).contains(symbols[1]) == isUse)
    }
}
