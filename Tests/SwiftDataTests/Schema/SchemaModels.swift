import Foundation
import SwiftData

// Models whose schemas are right in one respect and wrong in another.

/// Both sides lead to the other twice.
enum Ambiguous {
    @Model final class Book {
        var author: Person?
        var editor: Person?

        init() {}
    }

    @Model final class Person {
        var books: [Book] = []

        init() {}
    }
}

/// The inverse of one relationship is named, so the other one has none.
enum Resolved {
    @Model final class Book {
        var author: Person?
        var editor: Person?

        init() {}
    }

    @Model final class Person {
        @Relationship(inverse: \Book.author) var books: [Book] = []

        init() {}
    }
}

/// Two relationships name the same inverse.
enum Contradictory {
    @Model final class Book {
        var author: Person?

        init() {}
    }

    @Model final class Person {
        @Relationship(inverse: \Book.author) var written: [Book] = []
        @Relationship(inverse: \Book.author) var edited: [Book] = []

        init() {}
    }
}

/// A model with relationships to itself.
@Model final class Node {
    var parent: Node?
    @Relationship(deleteRule: .cascade, inverse: \Node.parent) var children: [Node] = []
    var friends: [Node] = []

    init() {}
}

enum First {
    @Model final class Twin {
        var x = 1

        init() {}
    }
}

enum Second {
    @Model final class Twin {
        var x = 1
        var first: First.Twin?

        init() {}
    }
}

/// Names that the store does not accept, and limits of relationships.
@Model final class Unusual {
    #Unique<Unusual>([\._hidden, \._size])
    private(set) var _hidden: String = ""
    var _size: Int = 1
    @Relationship(.unique) var node: Node?
    @Relationship(minimumModelCount: 1, maximumModelCount: 3) var nodes: [Node] = []
    @Attribute(.preserveValueOnDeletion, originalName: "_old", hashModifier: "2")
    var renamed: String = "a"

    init() {}
}

/// A model that CloudKit refuses.
@Model final class Local {
    @Attribute(.unique) var name: String
    var given: Int
    var value: Int = 1
    var optional: Int?
    var node: Node
    var nodes: [Node] = []
    @Relationship(deleteRule: .deny, inverse: \Remote.local) var remotes: [Remote]? = []

    init(node: Node) {
        name = ""
        given = 1
        self.node = node
    }
}

@Model final class Remote {
    var local: Local?
    var made = Date.now

    init() {}
}
