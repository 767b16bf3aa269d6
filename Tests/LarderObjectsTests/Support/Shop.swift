import LarderModel
import LarderObjects
import LarderQuery
import TestSupport

/// An instance of a model class, as the macro makes them.
final class Instance: ObjectOwner {
    var _$object: StoredObject
    var context: AnyObject?
    let _$entityName: String

    init(_ entityName: String, _ object: StoredObject = StoredObject()) {
        _$entityName = entityName
        _$object = object
        if object.owner == nil { object.owner = self }
    }

    func _$join(_ contextOwner: AnyObject) { context = contextOwner }
    func _$unite() {}
}

/// The owner of a context.
final class Owner {
    let context: ObjectContext

    init(_ model: ObjectModel) {
        context = ObjectContext(model)
        context.owner = self
    }
}

/// A store of categories, articles, tags and notes, and contexts on it.
struct Shop {
    let store: any ObjectStore
    let model: ObjectModel

    init() throws {
        let schema = try SchemaFile.schema(parsing: ArticleSchema.text)
        let store = try EngineStore(schema)
        self.store = store
        let entities = schema.entities.map { entity in
            ObjectEntity(
                entity,
                names: entity.attributes.map(\.name) + entity.relationships.map(\.name),
                OwnerClass(
                    make: { Instance(entity.name, $0) }, notify: { _, _ in }))
        }
        model = ObjectModel(
            entities: entities,
            stores: Dictionary(uniqueKeysWithValues: entities.map { ($0.name, store) }))
    }

    func owner() -> Owner { Owner(model) }
}

extension Owner {
    func new(_ entityName: String, _ values: [String: Value] = [:]) throws -> Instance {
        let instance = Instance(entityName)
        try insert(instance)
        for (name, value) in values { instance.set(name, value) }
        return instance
    }

    func insert(_ instance: Instance) throws {
        try context.insert(instance)
    }

    func fetch(_ fetch: ObjectFetch) throws -> [Instance] {
        try context.fetch(fetch).compactMap { context.instance(of: $0) as? Instance }
    }

    /// The titles or names of all objects, in order.
    func names(_ entityName: String, where text: String? = nil, sort: String? = nil) throws
        -> [String]
    {
        var request = ObjectFetch(entityName)
        if let text {
            request.predicate = try PredicateFormat.parse(text, name: "predicate").expression
        }
        if let sort { request.sort = [SortKey(.tree(.keyPath(sort)))] }
        return try fetch(request).map {
            $0.string(["Article": "title", "Note": "text"][entityName] ?? "name")
        }
    }
}

extension Instance {
    func slot(_ name: String) -> Int { _$object.entity?.slot(named: name) ?? 0 }
    func set(_ name: String, _ value: Value) { _$object.setValue(value, at: slot(name)) }
    func value(_ name: String) -> Value? { _$object.value(at: slot(name)) }
    func string(_ name: String) -> String {
        if case .string(let string)? = value(name) { string } else { "" }
    }
    func related(_ name: String) -> [Instance] {
        _$object.relatedOwners(at: slot(name)).compactMap { $0 as? Instance }
    }
    func setOne(_ name: String, _ other: Instance?) {
        _$object.context?.setToOne(_$object, slot(name), other?._$object)
    }
    func setMany(_ name: String, _ others: [Instance]) {
        _$object.context?.setToMany(_$object, slot(name), others.map { $0._$object.identifier })
    }
}
