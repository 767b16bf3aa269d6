import CoreData

/// The model that Xcode's editor would have written.
public enum JournalModel {
    public static func make() -> NSManagedObjectModel {
        let entry = entity("Entry", Entry.self)
        let tag = entity("Tag", Tag.self)
        let page = entity("Page", Page.self)
        let tags = relationship("tags", to: tag, isToMany: true)
        let entries = relationship("entries", to: entry, isToMany: true)
        let pages = relationship("pages", to: page, isToMany: true, isOrdered: true)
        let ofEntry = relationship("entry", to: entry, isToMany: false)
        (tags.inverseRelationship, entries.inverseRelationship) = (entries, tags)
        (pages.inverseRelationship, ofEntry.inverseRelationship) = (ofEntry, pages)
        pages.deleteRule = .cascadeDeleteRule
        entry.properties = [
            attribute("created", .dateAttributeType), attribute("identifier", .UUIDAttributeType),
            attribute("isFavorite", .booleanAttributeType, defaultValue: false),
            attribute("mood", .integer16AttributeType, defaultValue: 0),
            attribute("photo", .binaryDataAttributeType), attribute("text", .stringAttributeType),
            attribute("temperature", .doubleAttributeType, defaultValue: 0.0),
            attribute("cost", .decimalAttributeType), attribute("site", .URIAttributeType),
            tags, pages,
        ]
        tag.properties = [attribute("name", .stringAttributeType, defaultValue: ""), entries]
        page.properties = [
            attribute("number", .integer32AttributeType, defaultValue: 0),
            attribute("note", .stringAttributeType), ofEntry,
        ]
        let model = NSManagedObjectModel()
        model.entities = [entry, tag, page]
        return model
    }

    private static func entity(_ name: String, _ type: NSManagedObject.Type) -> NSEntityDescription
    {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClass = type
        return entity
    }

    private static func attribute(
        _ name: String, _ type: NSAttributeType, defaultValue: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = defaultValue == nil
        attribute.defaultValue = defaultValue
        return attribute
    }

    private static func relationship(
        _ name: String, to destination: NSEntityDescription, isToMany: Bool, isOrdered: Bool = false
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.maxCount = isToMany ? 0 : 1
        relationship.isOrdered = isOrdered
        relationship.deleteRule = .nullifyDeleteRule
        return relationship
    }
}
