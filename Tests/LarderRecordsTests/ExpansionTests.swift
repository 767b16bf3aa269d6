import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import Testing

@testable import LarderRecordExpansion

@Suite("@Entity reports what is wrong with a declaration")
struct ExpansionTests {
    @Test(
        "each error of the macro @Entity names the property and what to write",
        arguments: [
            ("class Book { var id: PersistentIdentifier? }", "@Entity is attached to structs only"),
            ("enum Book { case a }", "@Entity is attached to structs only"),
            (
                "struct Book<T> { var id: PersistentIdentifier? }",
                "a struct with @Entity cannot have generic parameters"
            ),
            (
                "struct Book { var title: String }",
                "Book needs `var id: PersistentIdentifier?`, which is nil before the insert"
            ),
            (
                "struct Book { var id: PersistentIdentifier }",
                "`id` is declared as `var id: PersistentIdentifier?`"
            ),
            (
                "struct Book { let id: PersistentIdentifier? }",
                "`id` is declared as `var id: PersistentIdentifier?`"
            ),
            (
                "struct Book { var id: PersistentIdentifier?; var date = Date() }",
                "`date` needs a type: write `var date: Type = …`"
            ),
            (
                "struct Book { var id: PersistentIdentifier?; var a, b: Int }",
                "declare each property by a `var` of its own"
            ),
            (
                "struct Book { var id: PersistentIdentifier?; var (a, b): (Int, Int) }",
                "declare each property by a `var` of its own"
            ),
            (
                "struct Book { var id: PersistentIdentifier?; let pages: Int = 1 }",
                "`pages` is a constant with a value, so nothing can be read into it; use `var`"
            ),
            (
                "struct Book { var id: PersistentIdentifier?; lazy var pages: Int = 1 }",
                "`pages` cannot be lazy; mark it with @Transient or compute it"
            ),
            (
                "struct Book { var id: PersistentIdentifier?; @Transient var pages: Int }",
                "`pages` needs a default value, because the store has none for it"
            ),
            (
                "struct Book { var id: PersistentIdentifier?; var tags: Set<Ref<Tag>> }",
                "`tags` is a to-many relationship, which is an array: [Ref<…>]"
            ),
            (
                "struct Book { var id: PersistentIdentifier?; var tags: [Ref<Tag>]? }",
                "`tags` is a to-many relationship, which may be empty but not nil: [Ref<…>]"
            ),
        ])
    func errors(declaration: String, message: String) {
        #expect(expansion(of: declaration).messages == [message])
    }

    @Test("the macro @Entity refuses a name that is not a string literal")
    func name() {
        let result = expansion(of: "struct Book { var id: PersistentIdentifier? }", "(name)")
        #expect(result.messages == ["the name of the entity is a string literal"])
    }

    @Test(
        "the macro @Entity stores observed properties, but not computed, static or transient ones")
    func storedProperties() {
        let result = expansion(
            of: """
                public struct Book {
                    public var id: PersistentIdentifier?
                    public private(set) var title = "new"
                    var pages: Int = -1 { didSet { print(pages) } }
                    var isLong: Bool { pages > 500 }
                    var half: Int { get { pages / 2 } set { pages = newValue * 2 } }
                    static var shelf = 1
                    @Transient var isSelected = false
                    private var secret: Double = 0.5
                    var made: Date = Date.now
                    var author: Optional<LarderRecords.Ref<Author>>
                    var `default`: Bool = true
                }
                """, #"("Volume", parent: Work.self)"#)
        #expect(result.messages == [])
        for expected in [
            #"public static var entityName: Swift.String { "Volume" }"#,
            "public let title: String", "public let pages: Int", "fileprivate let secret: Double",
            "public let made: Date", "public let author: Author.Fields?",
            #"LarderRecords.MemberCodings.coding(of: (String).self), default: "new""#,
            "default: -1)", #""default", \Book.`default`"#,
            "parent: Work.self", "self.secret = try StoredProperties.secret.read(row, 2)",
        ] {
            #expect(
                result.source.contains(expected)
                    || result.source.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                        .contains(expected),
                "\(expected)\n\(result.source)")
        }
        for unexpected in ["isLong", "half:", "shelf", "isSelected.read", "default: Date"] {
            let generated = result.source.components(after: "class Fields")
            #expect(!generated.contains(unexpected), "\(unexpected)")
        }
    }

    /// The source after expansion, and the messages of the member macro.
    private func expansion(
        of declaration: String, _ arguments: String = ""
    ) -> (source: String, messages: [String]) {
        let file = Parser.parse(source: "@Entity\(arguments) \(declaration)")
        let context = BasicMacroExpansionContext(
            sourceFiles: [file: .init(moduleName: "Test", fullFilePath: "/Test.swift")])
        let macros: [String: any Macro.Type] = [
            "Entity": EntityMacro.self, "Transient": PropertyMacro.self,
        ]
        let source = file.expand(macros: macros) { syntax in
            BasicMacroExpansionContext(sharingWith: context, lexicalContext: [])
        }
        return (source.description, context.diagnostics.map(\.message))
    }
}

extension String {
    fileprivate func components(after text: String) -> Substring {
        guard let range = firstRange(of: text) else { return "" }
        return self[range.upperBound...]
    }
}
