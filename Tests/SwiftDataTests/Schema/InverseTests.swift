import SwiftData
import Testing

@Suite("The inverse of a relationship is named or inferred")
struct InverseTests {
    private func inverses(_ types: any PersistentModel.Type...) -> [String: String] {
        Schema(types).entities.reduce(into: [:]) { inverses, entity in
            for relationship in entity.relationships {
                inverses["\(entity.name).\(relationship.name)"] =
                    relationship.inverseName ?? "none"
            }
        }
    }

    @Test("an inverse that one side of a relationship names is that of both")
    func named() {
        #expect(
            inverses(Resolved.Book.self) == [
                "Book.author": "books", "Book.editor": "none", "Person.books": "author",
            ])
        #expect(
            inverses(Node.self) == [
                "Node.parent": "children", "Node.children": "parent", "Node.friends": "none",
            ])
    }

    @Test("two relationships that are the only ones between their models are inverses")
    func inferred() {
        let inverses = inverses(Pair.Left.self)
        #expect(inverses == ["Left.rights": "left", "Right.left": "rights"])
    }

    @Test("an ambiguous inverse is an error that names both relationships")
    func ambiguous() {
        #expect {
            try Schema(Ambiguous.Book.self).larderSchema()
        } throws: { error in
            "\(error)".contains(
                """
                Person.books: the inverse may be Book.author or Book.editor; \
                name it with @Relationship(inverse:) on one side
                """)
        }
    }

    @Test("an inverse that two relationships name is an error that names both")
    func contradictory() {
        #expect {
            try Schema(Contradictory.Book.self).larderSchema()
        } throws: { error in
            "\(error)".contains("Book.author: both edited and written of Person name it")
        }
    }

    @Test("a container with ambiguous inverses is a typed error with all problems")
    func typed() {
        #expect {
            try ModelContainer(
                for: Ambiguous.Book.self, Second.Twin.self,
                configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        } throws: { error in
            error as? SwiftDataError == .loadIssueModelContainer
                && "\(error)".contains("Twin") && "\(error)".contains("Person.books")
        }
    }
}

enum Pair {
    @Model final class Left {
        var rights: [Right] = []

        init() {}
    }

    @Model final class Right {
        var left: Left

        init(left: Left) { self.left = left }
    }
}
