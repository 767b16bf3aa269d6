internal import CoreData
internal import Foundation

/// The model of the store, made in code. It keeps to the rules of models that are synchronised:
/// each attribute is optional or has a default value, each relationship is optional and has an
/// inverse, and nothing is unique.
enum DeskModel {
    static let model: NSManagedObjectModel = {
        let (group, task) = (NSEntityDescription(), NSEntityDescription())
        group.name = "Group"
        group.managedObjectClass = ManagedGroup.self
        task.name = "Task"
        task.managedObjectClass = ManagedTask.self
        let (tasks, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
        tasks.name = "tasks"
        tasks.destinationEntity = task
        tasks.maxCount = 0
        tasks.deleteRule = .cascadeDeleteRule
        owner.name = "group"
        owner.destinationEntity = group
        owner.maxCount = 1
        tasks.inverseRelationship = owner
        owner.inverseRelationship = tasks
        group.properties = [attribute("title", .string), tasks]
        task.properties = [
            attribute("title", .string), attribute("priority", .integer16, 1),
            attribute("completed", .boolean, false), attribute("due", .date), owner,
        ]
        let model = NSManagedObjectModel()
        model.entities = [group, task]
        return model
    }()

    private static func attribute(
        _ name: String, _ type: NSAttributeDescription.AttributeType, _ value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.type = type
        attribute.isOptional = value == nil
        attribute.defaultValue = value
        return attribute
    }
}
