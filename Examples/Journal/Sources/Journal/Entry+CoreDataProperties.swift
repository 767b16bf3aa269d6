import CoreData
import Foundation

extension Entry {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Entry> {
        return NSFetchRequest<Entry>(entityName: "Entry")
    }

    @NSManaged public var created: Date?
    @NSManaged public var identifier: UUID?
    @NSManaged public var isFavorite: Bool
    @NSManaged public var mood: Int16
    @NSManaged public var photo: Data?
    @NSManaged public var text: String?
    @NSManaged public var temperature: Double
    @NSManaged public var cost: NSDecimalNumber?
    @NSManaged public var site: URL?
    @NSManaged public var tags: NSSet?
    @NSManaged public var pages: NSOrderedSet?

}

// MARK: Generated accessors for tags
extension Entry {

    @NSManaged public func addToTags(_ value: Tag)

    @NSManaged public func removeFromTags(_ value: Tag)

    @NSManaged public func addToTags(_ values: NSSet)

    @NSManaged public func removeFromTags(_ values: NSSet)

}

// MARK: Generated accessors for pages
extension Entry {

    @NSManaged public func insertIntoPages(_ value: Page, at idx: Int)

    @NSManaged public func removeFromPages(at idx: Int)

    @NSManaged public func insertIntoPages(_ values: [Page], at indexes: NSIndexSet)

    @NSManaged public func removeFromPages(at indexes: NSIndexSet)

    @NSManaged public func replacePages(at idx: Int, with value: Page)

    @NSManaged public func replacePages(at indexes: NSIndexSet, with values: [Page])

    @NSManaged public func addToPages(_ value: Page)

    @NSManaged public func removeFromPages(_ value: Page)

    @NSManaged public func addToPages(_ values: NSOrderedSet)

    @NSManaged public func removeFromPages(_ values: NSOrderedSet)

}

extension Entry: Identifiable {

}
