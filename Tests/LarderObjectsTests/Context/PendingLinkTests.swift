import LarderModel
import LarderObjects
import LarderQuery
import Testing

@Suite("Lists, while there are pending changes")
struct PendingLinkTests {
    let shop: Shop
    /// Another context of the store.
    let other: Owner
    let owner: Owner

    /// A store with two categories, the first of which has two articles.
    init() throws {
        shop = try Shop()
        other = shop.owner()
        owner = shop.owner()
        let tech = try other.new("Category", ["name": "tech"])
        _ = try other.new("Category", ["name": "art"])
        for title in ["A", "B"] {
            try other.new("Article", ["title": .string(title)]).setOne("category", tech)
        }
        _ = try other.context.save()
    }

    private func category(_ name: String, _ owner: Owner? = nil) throws -> Instance {
        try find("Category", "name", name, owner)
    }

    private func article(_ title: String, _ owner: Owner? = nil) throws -> Instance {
        try find("Article", "title", title, owner)
    }

    private func find(
        _ entityName: String, _ property: String, _ value: String, _ owner: Owner?
    ) throws -> Instance {
        var request = ObjectFetch(entityName)
        request.predicate =
            try PredicateFormat.parse("\(property) == '\(value)'", name: "predicate").expression
        return try #require((owner ?? self.owner).fetch(request).first)
    }

    private func titles(_ category: Instance) -> [String] {
        category.related("articles").map { $0.string("title") }
    }

    @Test("a list that is emptied before its members were read is empty after the save")
    func unreadMembers() throws {
        try category("tech").setMany("articles", [])
        _ = try owner.context.save()
        #expect(titles(try category("tech", shop.owner())).isEmpty)
        #expect(try article("A", shop.owner()).related("category").isEmpty)
    }

    @Test("an article that two contexts moved is in the list of the pending category only")
    func movedTwice() throws {
        let news = try owner.new("Category", ["name": "news"])
        try article("A").setOne("category", news)
        try article("A", other).setOne("category", category("art", other))
        _ = try other.context.save()
        #expect(titles(try category("art")).isEmpty)
        #expect(titles(try category("tech")) == ["B"])
        #expect(titles(news) == ["A"])
        _ = try owner.context.save()
        #expect(titles(try category("art", other)).isEmpty)
        #expect(titles(try category("news", other)) == ["A"])
    }

    @Test("a changed list keeps its order when another context adds an object to it")
    func order() throws {
        let tech = try category("tech")
        let news = try article("B")
        tech.setMany("articles", [news, try article("A")])
        try other.new("Article", ["title": "C"]).setOne("category", category("tech", other))
        _ = try other.context.save()
        #expect(titles(try category("tech")) == ["B", "A", "C"])
    }

    @Test("a deleted object is not in lists, and is in them again after a rollback")
    func hidden() throws {
        let tech = try category("tech")
        #expect(titles(tech) == ["A", "B"])
        owner.context.delete(try article("A")._$object)
        #expect(titles(tech) == ["B"])
        let new = try owner.new("Article", ["title": "C"])
        tech.setMany("articles", [try article("B"), new])
        #expect(titles(tech) == ["B", "C"])
        owner.context.rollback()
        #expect(titles(tech).sorted() == ["A", "B"])
        #expect(try article("A").related("category").first === tech)
    }

    @Test("a list that was read with pending changes equals the stored list after a rollback")
    func readBesideChanges() throws {
        try owner.new("Article", ["title": "C"]).setOne("category", category("tech"))
        #expect(titles(try category("tech")) == ["A", "B", "C"])
        owner.context.rollback()
        #expect(titles(try category("tech")) == ["A", "B"])
        #expect(!owner.context.hasChanges)
    }

    @Test("a predicate sees no category in an object whose category is deleted but not saved")
    func predicates() throws {
        owner.context.delete(try category("tech")._$object)
        #expect(try owner.names("Article", where: "category == NULL") == ["A", "B"])
        #expect(try owner.names("Article", where: "category != NULL") == [])
        owner.context.rollback()
        #expect(try owner.names("Article", where: "category == NULL") == [])
    }

    @Test("an object moved to a category that another context has deleted has no category")
    func missingTarget() throws {
        try article("A").setOne("category", category("art"))
        other.context.delete(try category("art", other)._$object)
        _ = try other.context.save()
        _ = try owner.context.save()
        #expect(try article("A", other).related("category").isEmpty)
        #expect(try article("A").related("category").isEmpty)
        #expect(titles(try category("tech")) == ["B"])
    }

    @Test("an object that is inserted and deleted before the save leaves no link")
    func insertedAndDeleted() throws {
        let news = try owner.new("Category", ["name": "news"])
        let first = try article("A")
        first.setOne("category", news)
        owner.context.delete(news._$object)
        #expect(first.related("category").isEmpty)
        _ = try owner.context.save()
        #expect(try article("A", other).related("category").isEmpty)
        #expect(try other.names("Category") == ["tech", "art"])
    }

    @Test("setting a property to the value that it has is not a change")
    func sameValue() throws {
        let first = try article("A")
        first.set("words", 0)
        #expect(!owner.context.hasChanges)
        try article("A", other).set("words", 7)
        _ = try other.context.save()
        #expect(try article("A").value("words") == 7)
    }
}
