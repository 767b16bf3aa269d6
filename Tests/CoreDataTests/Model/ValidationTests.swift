import CoreData
import Testing

@Suite("Validation by contexts")
struct ValidationTests {
    /// An entity with a rule of each kind.
    private func context(
        _ change: (NSManagedObjectModel) -> Void = { _ in }
    ) throws -> NSManagedObjectContext {
        let model = Library.model()
        change(model)
        let container = NSPersistentContainer(name: "Rules", managedObjectModel: model)
        container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container.newBackgroundContext()
    }

    private func codes(_ error: NSError?) -> [Int] {
        let details = error?.userInfo[NSDetailedErrorsKey] as? [NSError]
        return (details ?? [error].compactMap { $0 }).map(\.code).sorted()
    }

    @Test("a value is checked without being set, with Core Data's codes")
    func values() throws {
        let context = try context()
        let article = Article(context: context)
        var value: Any? = "text"
        try article.validateValue(&value, forKey: "title")
        for (bad, key, code) in [
            (nil, "title", NSValidationMissingMandatoryPropertyError),
            (NSNull(), "title", NSValidationMissingMandatoryPropertyError),
            (5, "title", NSManagedObjectValidationError),
            ("x", "words", NSManagedObjectValidationError),
            (article, "category", NSManagedObjectValidationError),
            ("x", "nothing", NSManagedObjectValidationError),
        ] as [(Any?, String, Int)] {
            var value = bad
            let error = #expect(throws: NSError.self) {
                try article.validateValue(&value, forKey: key)
            }
            #expect(error?.code == code && error?.domain == NSCocoaErrorDomain)
            #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == key)
            #expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === article)
            #expect(error?.localizedDescription.contains("Article.\(key)") == true)
        }
        var absent: Any?
        try article.validateValue(&absent, forKey: "price")
        #expect(article.title == "" && article.category == nil)
        let free = NSManagedObject(entity: article.entity, insertInto: nil)
        #expect(throws: NSError.self) { try free.validateValue(&absent, forKey: "title") }
    }

    @Test("validation predicates are conditions of saves, with their own codes and texts")
    func predicates() throws {
        let context = try context { model in
            let title = model.entitiesByName["Article"]?.attributesByName["title"]
            title?.setValidationPredicates(
                [NSPredicate(format: "length(SELF) > 2"), NSPredicate(format: "SELF != 'bad'")],
                withValidationWarnings: ["is too short", 4_711])
            let words = model.entitiesByName["Article"]?.attributesByName["words"]
            words?.setValidationPredicates(
                [NSPredicate(format: "SELF BETWEEN {0, 10}"), NSPredicate(format: "SELF ? 3")],
                withValidationWarnings: nil)
            #expect(title?.validationPredicates.count == 2 && words?.validationWarnings.count == 2)
        }
        let article = Article(context: context)
        article.title = "x"
        article.words = 5
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSValidationMultipleErrorsError)
        #expect(codes(error) == [NSManagedObjectValidationError, NSManagedObjectValidationError])
        #expect(error?.localizedDescription.contains("is too short") == true)
        article.entity.attributesByName["words"]?.setValidationPredicates(
            [NSPredicate(format: "SELF BETWEEN {0, 10}")], withValidationWarnings: nil)
        article.title = "bad"
        let coded = #expect(throws: NSError.self) { try context.save() }
        #expect(coded?.code == 4_711)
        #expect(coded?.userInfo[NSValidationValueErrorKey] as? String == "bad")
        #expect(coded?.userInfo[NSValidationPredicateErrorKey] is NSPredicate)
        article.title = "good"
        try context.save()
        article.words = 11
        #expect(throws: NSError.self) { try context.save() }
        #expect(context.hasChanges)
        context.rollback()
        // A property that is not changed is not checked again.
        article.entity.attributesByName["title"]?.setValidationPredicates(
            [NSPredicate(value: false)], withValidationWarnings: nil)
        article.words = 9
        try context.save()
    }

    /// A model with rules of all kinds, as Xcode's editor writes it.
    private static let file = """
        <model type="com.apple.IDECoreDataModeler.DataModel">
        <entity name="Entry" representedClassName="NSManagedObject">
        <attribute name="count" attributeType="Integer 32" optional="YES"
            minValueString="2" maxValueString="5"/>
        <attribute name="code" attributeType="String" optional="YES" minValueString="2"
            maxValueString="4" regularExpressionString="[a-z]+"/>
        <attribute name="day" attributeType="Date" optional="YES"
            minDateTimeInterval="100" maxDateTimeInterval="200"/>
        <attribute name="name" attributeType="String"/>
        <relationship name="parts" toMany="YES" minCount="1" maxCount="2"
            destinationEntity="Part" inverseName="entry" inverseEntity="Part"/>
        </entity>
        <entity name="Part" representedClassName="NSManagedObject">
        <relationship name="entry" maxCount="1" optional="YES" deletionRule="Deny"
            destinationEntity="Entry" inverseName="parts" inverseEntity="Entry"/>
        </entity>
        </model>
        """

    @Test("the rules of a model file are checked, with codes for numbers, dates and texts")
    func modelFile() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        let model = folder.appending(path: "Rules.xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Self.file.write(
            to: model.appending(path: "contents"), atomically: true, encoding: .utf8)
        let read = try #require(NSManagedObjectModel(contentsOf: model))
        #expect(
            read.entitiesByName["Entry"]?.attributesByName["code"]?.validationPredicates.count == 3)
        let container = NSPersistentContainer(name: "Rules", managedObjectModel: read)
        container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let context = container.newBackgroundContext()
        let entry = NSEntityDescription.insertNewObject(forEntityName: "Entry", into: context)
        func fails(_ values: [String: Any]) -> [Int] {
            entry.setValuesForKeys(values)
            do {
                try context.save()
                return []
            } catch {
                return codes(error as NSError)
            }
        }
        #expect(
            fails(["count": 1]) == [
                NSValidationMissingMandatoryPropertyError,
                NSValidationRelationshipLacksMinimumCountError, NSValidationNumberTooSmallError,
            ])
        let parts = (0..<3).map { _ in
            NSEntityDescription.insertNewObject(forEntityName: "Part", into: context)
        }
        #expect(
            fails(["count": 6, "name": "x", "parts": Set(parts)]) == [
                NSValidationRelationshipExceedsMaximumCountError, NSValidationNumberTooLargeError,
            ])
        context.delete(parts[2])
        let day = Date(timeIntervalSinceReferenceDate: 99)
        #expect(
            fails(["count": 3, "code": "A", "day": day]) == [
                NSValidationDateTooSoonError, NSValidationStringTooShortError,
                NSValidationStringPatternMatchingError,
            ])
        let late = Date(timeIntervalSinceReferenceDate: 201)
        #expect(
            fails(["code": "abcde", "day": late])
                == [NSValidationDateTooLateError, NSValidationStringTooLongError])
        #expect(fails(["code": "abc", "day": NSNull()]) == [])
        context.delete(parts[0])
        #expect(fails([:]) == [NSValidationRelationshipDeniedDeleteError])
        context.rollback()
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = context
        let same = try child.existingObject(with: entry.objectID)
        same.setValue(9, forKey: "count")
        let error = #expect(throws: NSError.self) { try child.save() }
        #expect(error?.code == NSValidationNumberTooLargeError && !context.hasChanges)
    }

    @Test("a class may replace values and add rules of its own")
    func hooks() throws {
        let context = try context { model in
            model.entitiesByName["Article"]?.managedObjectClass = CheckedArticle.self
        }
        let request = NSFetchRequest<CheckedArticle>(entityName: "Article")
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Article", in: context))
        let article = CheckedArticle(entity: entity, insertInto: context)
        article.setValue("  two  words ", forKey: "title")
        try context.save()
        #expect(try context.fetch(request).first?.value(forKey: "title") as? String == "two  words")
        article.setValue("forbidden", forKey: "title")
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == 99)
        context.rollback()
        article.setValue(2_000_000, forKey: "words")
        #expect(throws: CheckedArticle.Failure.self) { try context.save() }
        context.rollback()
        context.delete(article)
        let denied = #expect(throws: NSError.self) { try context.save() }
        #expect(denied?.code == 98)
        #expect(try context.fetch(request).isEmpty && context.hasChanges)
    }
}

private final class CheckedArticle: NSManagedObject {
    struct Failure: Error {}

    override func validateValue(_ value: inout Any?, forKey key: String) throws {
        if key == "title", let title = value as? String {
            value = title.trimmingCharacters(in: .whitespaces)
            if title == "forbidden" {
                throw NSError(domain: NSCocoaErrorDomain, code: 99)
            }
        }
        try super.validateValue(&value, forKey: key)
    }

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        if let words = value(forKey: "words") as? Int, words > 1_000_000 { throw Failure() }
    }

    override func validateForDelete() throws {
        throw NSError(domain: NSCocoaErrorDomain, code: 98)
    }
}
