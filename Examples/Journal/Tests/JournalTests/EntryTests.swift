import CoreData
import Foundation
import Journal
import Testing

@Suite("Classes of Core Data as Xcode generates them")
struct EntryTests {
    let context: NSManagedObjectContext

    init() throws {
        let container = NSPersistentContainer(name: "Journal")
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        context = container.viewContext
    }

    @Test("an attribute of each type is read as it was written, before and after a save")
    func attributes() throws {
        let entry = Entry(context: context)
        let identifier = UUID()
        #expect(entry.text == nil)
        #expect(entry.mood == 0 && !entry.isFavorite && entry.temperature == 0)
        entry.created = Date(timeIntervalSinceReferenceDate: 1_000)
        entry.identifier = identifier
        entry.isFavorite = true
        entry.mood = 3
        entry.mood += 2
        entry.photo = Data([1, 2, 3])
        entry.text = "a walk"
        entry.text?.append(" in the rain")
        entry.temperature = 12.5
        entry.cost = NSDecimalNumber(string: "12.30")
        entry.site = URL(string: "https://example.org/")
        for _ in 0..<2 {
            let request: NSFetchRequest<Entry> = Entry.fetchRequest()
            let read = try #require(try context.fetch(request).first)
            #expect(read.created == Date(timeIntervalSinceReferenceDate: 1_000))
            #expect(read.identifier == identifier)
            #expect(read.isFavorite && read.mood == 5 && read.temperature == 12.5)
            #expect(read.photo == Data([1, 2, 3]))
            #expect(read.text == "a walk in the rain")
            #expect(read.cost == NSDecimalNumber(string: "12.3"))
            #expect(read.site?.host == "example.org")
            try context.save()
            context.refreshAllObjects()
        }
        entry.text = nil
        entry.cost = nil
        #expect(entry.text == nil && entry.cost == nil)
        #expect(entry[keyPath: \Entry.mood] == 5)
    }

    @Test("the methods of a relationship without an order change both sides")
    func sets() throws {
        let entry = Entry(context: context)
        let tags = ["sea", "rain", "sun"].map { name in
            let tag = Tag(context: context)
            tag.name = name
            return tag
        }
        entry.addToTags(tags[0])
        entry.addToTags(NSSet(array: [tags[1], tags[2], tags[0]]))
        #expect(entry.tags?.count == 3)
        #expect(tags[0].entries == [entry])
        entry.removeFromTags(tags[0])
        #expect(tags[0].entries.isEmpty)
        entry.removeFromTags(NSSet(array: tags))
        #expect(entry.tags?.count == 0)
        tags[2].entries.insert(entry)
        #expect(entry.tags?.contains(tags[2]) == true)
        #expect(tags[2].shownName == "#sun")
        try context.save()
        let request: NSFetchRequest<Entry> = Entry.fetchRequest()
        request.predicate = NSPredicate(format: "ANY tags.name == %@", "sun")
        #expect(try context.fetch(request) == [entry])
    }

    @Test("the methods of an ordered relationship keep its order")
    func orderedSets() throws {
        let entry = Entry(context: context)
        let pages = (0..<6).map { number in
            let page = Page(context: context)
            page.number = Int32(number)
            return page
        }
        func numbers() -> [Int32] {
            (entry.pages?.array ?? []).compactMap { ($0 as? Page)?.number }
        }
        entry.addToPages(pages[1])
        entry.addToPages(NSOrderedSet(array: [pages[2], pages[3]]))
        entry.insertIntoPages(pages[0], at: 0)
        #expect(numbers() == [0, 1, 2, 3])
        entry.removeFromPages(at: 1)
        entry.replacePages(at: 0, with: pages[4])
        #expect(numbers() == [4, 2, 3])
        entry.insertIntoPages([pages[0], pages[1]], at: NSIndexSet(indexesIn: NSRange(1..<3)))
        #expect(numbers() == [4, 0, 1, 2, 3])
        entry.replacePages(at: NSIndexSet(index: 4), with: [pages[5]])
        entry.removeFromPages(at: NSIndexSet(indexesIn: NSRange(0..<2)))
        entry.removeFromPages(pages[1])
        #expect(numbers() == [2, 5])
        entry.insertIntoPages(pages[3], at: 100)
        entry.removeFromPages(at: 100)
        entry.replacePages(at: -1, with: pages[0])
        #expect(numbers() == [2, 5, 3])
        try context.save()
        #expect(numbers() == [2, 5, 3])
        context.refreshAllObjects()
        #expect(numbers() == [2, 5, 3])
        #expect(pages[5].entry == entry && pages[0].entry == nil)
        // A saved object, with members that are saved and one that is new.
        let last = Page(context: context)
        last.number = 9
        entry.insertIntoPages([pages[5], last], at: NSIndexSet(indexesIn: NSRange(0..<2)))
        entry.addToPages(pages[0])
        #expect(numbers() == [5, 9, 2, 3, 0])
        try context.save()
        context.refreshAllObjects()
        #expect(numbers() == [5, 9, 2, 3, 0])
    }

    @Test("the model file has bounds, derived and transient attributes, and constraints")
    func model() throws {
        let entry = Entry(context: context)
        entry.mood = 9
        #expect(throws: (any Error).self) { try context.save() }
        entry.mood = 5
        entry.setValue("not stored", forKey: "draft")
        entry.addToPages(Page(context: context))
        try context.save()
        context.refresh(entry, mergeChanges: false)
        #expect(entry.value(forKey: "pageCount") as? Int == 1)
        #expect(entry.created == Date(timeIntervalSinceReferenceDate: 694_224_000))
        for _ in 0..<2 { Tag(context: context).name = "one" }
        #expect(throws: (any Error).self) { try context.save() }
    }

    @Test("a model that does not exist is an error of the container")
    func missingModel() throws {
        let container = NSPersistentContainer(name: "Diary")
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        #expect("\(try #require(failure))".contains("Diary.xcdatamodeld"))
        #expect(NSManagedObjectModel(contentsOf: URL(filePath: "/nowhere.momd")) == nil)
    }

    @Test("a property without a value, and one of another type, have an empty value")
    func absentValues() throws {
        let entry = Entry(context: context)
        entry.setValue(nil, forKey: "mood")
        #expect(entry.mood == 0)
        #expect(entry.tags?.count == 0)
        context.delete(entry)
        #expect(!entry.isFavorite)
        let loose = Tag(entity: Tag.entity(), insertInto: nil)
        #expect(loose.name.isEmpty && loose.entries.isEmpty)
    }
}
