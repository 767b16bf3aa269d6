import CoreData
import SwiftData
import SwiftDataKit
import Testing

/// The structures of models as values by key, which are JSON documents.
@Suite("Structures by key")
struct StructureTests {
    @Test(
        "the model shows a default for a document that is no value of the structure",
        arguments: ["5", "\"text\"", "[1]", "{}", #"{"language":5}"#, #"{"language":null}"#])
    func documents(_ text: String) throws {
        let context = ModelContext(try Shelf().container)
        let book = try #require(try context.book("novel 1"))
        let object = try #require(book.managedObject)
        let document = try JSONSerialization.jsonObject(
            with: Data(text.utf8), options: .fragmentsAllowed)
        object.setValue(document, forKey: "details")
        #expect(book.details == Details(language: ""))
        try context.save()
        let other = try #require(try ModelContext(context.container).book("novel 1"))
        #expect(other.details == Details(language: ""))
        // The first change is an error, because it may have been made from the default.
        book.details.language = "fr"
        #expect(throws: (any Error).self) { try context.save() }
        book.details = Details(language: "de")
        #expect((object.value(forKey: "details") as? [String: String]) == ["language": "de"])
        try context.save()
        #expect(try ModelContext(context.container).book("novel 1")?.details == book.details)
    }

    @Test("a value that is no document, and a member as a key, are errors of the save")
    func values() throws {
        let context = ModelContext(try Shelf().container)
        let book = try #require(try context.book("novel 1"))
        let object = try #require(book.managedObject)
        for (key, value) in [
            ("details", Date()), ("details", Details(language: "x")), ("details", NSObject()),
            ("details", ["language": Date()]), ("details.language", "de"), ("language", "de"),
        ] as [(String, Any)] {
            object.setValue(value, forKey: key)
            #expect(throws: (any Error).self, "\(key)") { try context.save() }
            context.rollback()
            #expect(book.details == Details(language: "en"))
        }
        #expect(object.value(forKey: "details.language") == nil)
        #expect(object.value(forKeyPath: "details.language") as? String == "en")
        #expect(object.value(forKeyPath: "details.nothing") == nil)
        object.setValue(nil, forKey: "details")
        #expect(throws: (any Error).self) { try context.save() }
    }
}
