import LarderModel
import LarderObjects
import LarderQuery
import Testing

@Suite("A context of objects")
struct ObjectContextTests {
    @Test("a context fetches inserted, changed and deleted objects before they are saved")
    func pendingChanges() throws {
        let owner = try Shop().owner()
        let first = try owner.new("Article", ["title": "A", "words": 5])
        _ = try owner.new("Article", ["title": "B", "words": 1])
        #expect(try owner.names("Article") == ["A", "B"])
        #expect(try owner.names("Article", where: "words > 2") == ["A"])
        _ = try owner.context.save()
        #expect(!owner.context.hasChanges)
        first.set("words", 0)
        #expect(try owner.names("Article", where: "words > 2") == [])
        #expect(try owner.names("Article", sort: "words") == ["A", "B"])
        owner.context.delete(first._$object)
        #expect(try owner.names("Article") == ["B"])
        #expect(try owner.context.count(ObjectFetch("Article")) == 1)
    }

    @Test("a save makes identifiers permanent, and a context has one object per identifier")
    func identity() throws {
        let owner = try Shop().owner()
        let article = try owner.new("Article", ["title": "A"])
        #expect(article._$object.identifier.isTemporary)
        _ = try owner.context.save()
        #expect(!article._$object.identifier.isTemporary)
        #expect(try owner.fetch(ObjectFetch("Article")).first === article)
    }

    @Test("a context sets both sides of a relationship at once")
    func inverses() throws {
        let owner = try Shop().owner()
        let category = try owner.new("Category", ["name": "tech"])
        let other = try owner.new("Category", ["name": "art"])
        let article = try owner.new("Article", ["title": "A"])
        article.setOne("category", category)
        #expect(category.related("articles").first === article)
        other.setMany("articles", [article])
        #expect(article.related("category").first === other)
        #expect(category.related("articles").isEmpty)
        let tag = try owner.new("Tag", ["name": "t"])
        article.setMany("tags", [tag])
        #expect(tag.related("articles").first === article)
        _ = try owner.context.save()
        tag.setMany("articles", [])
        #expect(article.related("tags").isEmpty)
        _ = try owner.context.save()
        #expect(try owner.context.count(ObjectFetch("Tag")) == 1)
    }

    @Test("links that one context saves are read by another in both directions")
    func links() throws {
        let shop = try Shop()
        let owner = shop.owner()
        let article = try owner.new("Article", ["title": "A"])
        let category = try owner.new("Category", ["name": "tech"])
        let tags = try ["x", "y"].map { try owner.new("Tag", ["name": .string($0)]) }
        article.setOne("category", category)
        article.setMany("tags", tags)
        _ = try owner.context.save()
        let reader = shop.owner()
        let read = try #require(try reader.fetch(ObjectFetch("Article")).first)
        #expect(read.related("category").map { $0.string("name") } == ["tech"])
        #expect(read.related("tags").map { $0.string("name") }.sorted() == ["x", "y"])
        #expect(read.related("category").first?.related("articles").first === read)
        #expect(try reader.names("Article", where: "ANY tags.name == \"x\"") == ["A"])
    }

    @Test("inserting an object into a context inserts the objects that it refers to")
    func graph() throws {
        let owner = try Shop().owner()
        let article = Instance("Article")
        let note = Instance("Note")
        article._$object.setValue("A", at: 0)
        article._$object.setOwners([note], at: 5)
        note._$object.setValue("n", at: 0)
        try owner.insert(article)
        #expect(note._$object.isManaged)
        #expect(note.related("article").first === article)
        _ = try owner.context.save()
        #expect(try owner.names("Note") == ["n"])
    }

    @Test("deleting an object in a context applies the delete rules cascade and nullify")
    func deletion() throws {
        let owner = try Shop().owner()
        let article = try owner.new("Article", ["title": "A"])
        let note = try owner.new("Note", ["text": "n"])
        let category = try owner.new("Category", ["name": "tech"])
        note.setOne("article", article)
        article.setOne("category", category)
        _ = try owner.context.save()
        owner.context.delete(article._$object)
        #expect(category.related("articles").isEmpty)
        _ = try owner.context.save()
        #expect(note._$object.status == .gone)
        #expect(note.string("text") == "n")
        #expect(article.string("title") == "A")
        #expect(try owner.names("Note") == [])
    }

    @Test("a rollback restores all objects and links of a context")
    func rollback() throws {
        let owner = try Shop().owner()
        let article = try owner.new("Article", ["title": "A"])
        let category = try owner.new("Category", ["name": "tech"])
        article.setOne("category", category)
        _ = try owner.context.save()
        article.set("title", "B")
        article.setOne("category", nil)
        let new = try owner.new("Article", ["title": "C"])
        owner.context.delete(category._$object)
        owner.context.rollback()
        #expect(!owner.context.hasChanges)
        #expect(article.string("title") == "A")
        #expect(article.related("category").first === category)
        #expect(category.related("articles").first === article)
        #expect(new._$object.status == .unmanaged)
        #expect(try owner.names("Article") == ["A"])
    }

    @Test("a fetch refreshes unchanged objects of a context, and keeps changed properties")
    func refreshing() throws {
        let shop = try Shop()
        let (one, two) = (shop.owner(), shop.owner())
        let article = try one.new("Article", ["title": "A", "words": 1])
        _ = try one.context.save()
        let other = try #require(try two.fetch(ObjectFetch("Article")).first)
        other.set("title", "B")
        article.set("words", 2)
        _ = try one.context.save()
        #expect(other.value("words") == .int(1))
        _ = try two.fetch(ObjectFetch("Article"))
        #expect(other.string("title") == "B")
        _ = try two.context.save()
        _ = try one.fetch(ObjectFetch("Article"))
        #expect(article.string("title") == "B")
        #expect(article.value("words") == .int(2))
    }

    @Test("a save drops a change of an object that another context has deleted, and saves the rest")
    func deletedElsewhere() throws {
        let shop = try Shop()
        let (one, two) = (shop.owner(), shop.owner())
        let article = try one.new("Article", ["title": "A"])
        let kept = try one.new("Article", ["title": "K"])
        _ = try one.context.save()
        let others = try two.fetch(ObjectFetch("Article"))
        two.context.delete(others[0]._$object)
        _ = try two.context.save()
        article.set("title", "B")
        kept.set("title", "L")
        _ = try one.context.save()
        #expect(article._$object.status == .gone)
        #expect(try one.names("Article") == ["L"])
    }

    @Test("a save of an inserted object with an existing unique value updates the existing object")
    func upsert() throws {
        let owner = try Shop().owner()
        let first = try owner.new("Category", ["name": "tech"])
        _ = try owner.context.save()
        let second = try owner.new("Category", ["name": "tech"])
        _ = try owner.context.save()
        #expect(first._$object.identifier == second._$object.identifier)
        #expect(try owner.names("Category") == ["tech"])
    }

    /// Saves the category `tech` with the article `A`.
    private func saveCategoryWithArticle(in owner: Owner) throws {
        let category = try owner.new("Category", ["name": "tech"])
        category.setMany("articles", [try owner.new("Article", ["title": "A"])])
        _ = try owner.context.save()
    }

    @Test("an inserted object that a save merges with an existing one reads its values")
    func upsertedValues() throws {
        let shop = try Shop()
        try saveCategoryWithArticle(in: shop.owner())
        let two = shop.owner()
        let second = try two.new("Category", ["name": "tech"])
        let new = try two.new("Category", ["name": "new"])
        #expect(second.related("articles").isEmpty)
        _ = try two.context.save()
        #expect(second.related("articles").map { $0.string("title") } == ["A"])
        #expect(new._$object[new.slot("articles")] == .objects([]))
        #expect(second._$object[second.slot("name")] == .string("tech"))
        #expect(!two.context.hasChanges)
    }

    @Test("a member added to the list of a merged object is added to the existing members")
    func upsertedList() throws {
        let shop = try Shop()
        try saveCategoryWithArticle(in: shop.owner())
        let two = shop.owner()
        let second = try two.new("Category", ["name": "tech"])
        try two.new("Article", ["title": "B"]).setOne("category", second)
        #expect(second.related("articles").map { $0.string("title") } == ["B"])
        _ = try two.context.save()
        try two.new("Article", ["title": "C"]).setOne("category", second)
        #expect(second.related("articles").map { $0.string("title") } == ["A", "B", "C"])
    }

    @Test("links that the list of a merged object has replaced are read again")
    func upsertedLinks() throws {
        let shop = try Shop()
        let owner = shop.owner()
        let first = try owner.new("Category", ["name": "tech"])
        let article = try owner.new("Article", ["title": "A"])
        article.setOne("category", first)
        _ = try owner.context.save()
        let second = try owner.new("Category", ["name": "tech"])
        let new = try owner.new("Article", ["title": "B"])
        second.setMany("articles", [new])
        _ = try owner.context.save()
        #expect(article.related("category").isEmpty)
        for category in [first, second] {
            #expect(category.related("articles").map { $0.string("title") } == ["B"])
            #expect(category._$object.status == .saved)
        }
        #expect(new.related("category").map { $0.string("name") } == ["tech"])
    }

    @Test("two instances of one merged object both read its values")
    func twoInstances() throws {
        let shop = try Shop()
        let owner = shop.owner()
        let first = try owner.new("Category", ["name": "tech"])
        first.setMany("articles", [try owner.new("Article", ["title": "A"])])
        _ = try owner.context.save()
        let second = try owner.new("Category", ["name": "tech"])
        _ = try owner.context.save()
        for category in [second, first] {
            #expect(category.string("name") == "tech")
            #expect(category.related("articles").map { $0.string("title") } == ["A"])
        }
        owner.context.delete(first._$object)
        _ = try owner.context.save()
        #expect(first._$object.status == .gone)
        #expect(second.string("name") == "tech")
        #expect(try owner.names("Category") == [])
    }

    @Test("a context and its objects are released with their owner")
    func release() throws {
        weak var context: ObjectContext?
        weak var object: StoredObject?
        do {
            let owner = try Shop().owner()
            let article = try owner.new("Article", ["title": "A"])
            let category = try owner.new("Category", ["name": "c"])
            article.setOne("category", category)
            context = owner.context
            object = article._$object
        }
        #expect(context == nil)
        #expect(object == nil)
    }

    @Test(
        "a predicate in memory sees all objects of a long list, even if its owner is unreferenced")
    func longLists() throws {
        let shop = try Shop()
        let category = PersistentIdentifier(temporary: "c", entityName: "Category")
        var changes: [Change] = [.insert(category, values: ["name": "long"])]
        for number in 0..<10_000 {
            changes.append(
                .insert(
                    PersistentIdentifier(temporary: "\(number)", entityName: "Article"),
                    values: ["title": "A", "category": .object(category)]))
        }
        _ = try shop.store.save(ChangeSet(changes))
        let owner = shop.owner()
        // The predicate is evaluated in memory.
        _ = try owner.new("Article", ["title": "B"])
        for _ in 0..<3 {
            #expect(try owner.names("Category", where: "articles.@count == 10000") == ["long"])
            _ = try owner.names("Article")
        }
    }

    @Test("a context keeps objects that an instance refers to, and releases unreferenced ones")
    func keptObjects() throws {
        let shop = try Shop()
        func insertCategory(_ name: String, articleCount: Int) throws {
            let category = PersistentIdentifier(temporary: "c", entityName: "Category")
            var changes: [Change] = [.insert(category, values: ["name": .string(name)])]
            for number in 0..<articleCount {
                changes.append(
                    .insert(
                        PersistentIdentifier(temporary: "\(number)", entityName: "Article"),
                        values: ["title": "A", "category": .object(category)]))
            }
            _ = try shop.store.save(ChangeSet(changes))
        }
        try insertCategory("first", articleCount: 1)
        for number in 0..<6 { try insertCategory("\(number)", articleCount: 3_000) }

        let owner = shop.owner()
        func category(_ name: String) throws -> Instance? {
            var fetch = ObjectFetch("Category")
            let text = "name == '\(name)'"
            fetch.predicate = try PredicateFormat.parse(text, name: "predicate").expression
            return try owner.fetch(fetch).first
        }
        func readArticles(ofCategories names: Range<Int>) throws {
            for name in names {
                #expect(try category("\(name)")?.related("articles").count == 3_000)
            }
        }
        var held = try category("first")
        weak let article = held?.related("articles").first?._$object
        try readArticles(ofCategories: 0..<3)
        #expect(article != nil)
        #expect(held?.related("articles").first?._$object === article)
        held = nil
        try readArticles(ofCategories: 3..<6)
        try readArticles(ofCategories: 0..<3)
        #expect(article == nil)
    }

    @Test("a context does not find an unreferenced object, and releases it when others are read")
    func unusedObjects() throws {
        let shop = try Shop()
        func insertCategories(_ names: [String]) throws {
            let changes = names.map { name in
                Change.insert(
                    PersistentIdentifier(temporary: name, entityName: "Category"),
                    values: ["name": .string(name)])
            }
            _ = try shop.store.save(ChangeSet(changes))
        }
        let owner = shop.owner()
        try insertCategories(["first"])
        weak var object: StoredObject?
        let identifier: PersistentIdentifier
        do {
            let category = try #require(try owner.fetch(ObjectFetch("Category")).first)
            object = category._$object
            identifier = category._$object.identifier
            #expect(owner.context.registeredObject(for: identifier) === object)
        }
        #expect(owner.context.registeredObject(for: identifier) == nil)
        try insertCategories((0..<9_000).map { "\($0)" })
        #expect(try owner.fetch(ObjectFetch("Category")).count == 9_001)
        #expect(try owner.fetch(ObjectFetch("Category")).count == 9_001)
        #expect(object == nil)
    }
}
