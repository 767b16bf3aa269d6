import FoundationEssentials
import LarderModel
import TestSupport

@testable import QueryFuzzing

/// Random changes of a schema, and what each means for the objects.
///
/// The meaning is written without the code of migrations: each edit changes the declarations and
/// the objects together. An edit that some objects do not permit sets ``isRefused``.
struct RandomMigration {
    var schema: ModelSchema
    var objects: ModelObjects
    private(set) var isRefused = false
    /// The edits, for the report of a failure.
    private(set) var edits: [String] = []
    private var number = 0
    /// Entities and properties that an edit has concerned. Each is edited once, because an original
    /// name leads to the old schema, not to the result of another edit.
    private var edited: Set<String> = []

    init(_ schema: Schema, _ objects: ModelObjects) {
        self.schema = ModelSchema(schema)
        self.objects = objects
        self.schema.version = 2
    }

    mutating func edit(_ random: inout SeededGenerator) {
        let entity = random.pick(Array(schema.entities.indices)) ?? 0
        switch random.number(0...17) {
        case 0, 1: addAttribute(entity, &random)
        case 2: removeAttribute(entity, &random)
        case 3: renameAttribute(entity, &random)
        case 4, 5, 6: changeType(entity, &random)
        case 7: changeOptional(entity, &random)
        case 8: changeIndex(entity, &random)
        case 9: renameRelationship(entity, &random)
        case 10: changeCardinality(entity, &random)
        case 11: changeOrder(entity, &random)
        case 12: removeRelationship(entity, &random)
        case 13: addRelationship(entity, &random)
        case 14: addInverse(entity, &random)
        case 15: renameEntity(entity, &random)
        case 16:
            let parent = random.once(in: 2) ? schema.entities[entity].name : nil
            addEntity(below: parent, &random)
        default: removeEntity(entity, &random)
        }
    }

    /// An edit that clients of the old schema neither see nor disturb.
    mutating func add(_ random: inout SeededGenerator) {
        let entity = random.pick(Array(schema.entities.indices)) ?? 0
        switch random.number(0...3) {
        case 0, 1: addAttribute(entity, &random)
        case 2: addRelationship(entity, &random)
        default: addEntity(below: nil, &random)
        }
    }

    private mutating func claim(_ names: String...) -> Bool {
        guard edited.isDisjoint(with: names) else { return false }
        edited.formUnion(names)
        return true
    }

    private mutating func newName(_ prefix: String) -> String {
        number += 1
        return "\(prefix)\(number)new"
    }

    /// Changes the objects of an entity and its subentities.
    private mutating func change(
        _ entity: String, _ body: (ModelObjects.Key, inout ModelObjects.Object) -> Void
    ) {
        let kinds = schema.kinds(of: entity)
        for key in objects.objects.keys where kinds.contains(key.entity) {
            body(key, &objects.objects[key]!)
        }
    }

    // MARK: Attributes

    private mutating func addAttribute(_ entity: Int, _ random: inout SeededGenerator) {
        let type = random.pick(AttributeType.allCases.filter { $0 != .json }) ?? .int64
        let value: Value? = random.once(in: 2) ? Value?.none : Self.simpleValue(type)
        let name = newName("added")
        // It has no objects that another edit could concern.
        _ = claim("\(schema.entities[entity].name).\(name)")
        schema.entities[entity].attributes.append(
            ModelSchema.ModelAttribute(
                name: name, type: type, isOptional: value == nil || random.once(in: 2),
                defaultValue: value, isUnique: false, isIndexed: random.once(in: 3)))
        edits.append("add \(schema.entities[entity].name).\(name)")
        change(schema.entities[entity].name) { $1.values[name] = value ?? Value.null }
    }

    static func simpleValue(_ type: AttributeType) -> Value {
        switch type {
        case .bool: .bool(true)
        case .int16, .int32, .int64: .int(-7)
        case .float: .float(0.5)
        case .double: .double(1e-7)
        case .decimal: .decimal(Decimal(exactly: "9.99") ?? 0)
        case .string: .string("it's a \"default\", (really)")
        case .date: .date(Date(timeIntervalSinceReferenceDate: 0.5))
        case .uuid: .uuid(UUID(uuidString: "7F000000-0000-0000-0000-000000000001")!)
        case .url: .url(URL(string: "https://example.org/")!)
        case .data: .data(Data([0, 255]))
        case .json: .json("{}")
        }
    }

    private func pickAttribute(_ entity: Int, _ random: inout SeededGenerator) -> Int? {
        random.pick(Array(schema.entities[entity].attributes.indices))
    }

    private mutating func removeAttribute(_ entity: Int, _ random: inout SeededGenerator) {
        guard let index = pickAttribute(entity, &random) else { return }
        let (name, entityName) = (
            schema.entities[entity].attributes[index].name, schema.entities[entity].name
        )
        guard claim("\(entityName).\(name)") else { return }
        schema.entities[entity].attributes.remove(at: index)
        let kinds = schema.kinds(of: entityName)
        for other in schema.entities.indices where kinds.contains(schema.entities[other].name) {
            schema.entities[other].unique.removeAll { $0.contains(name) }
            schema.entities[other].indexes.removeAll { $0.contains(name) }
        }
        edits.append("remove \(entityName).\(name)")
        change(entityName) { $1.values[name] = nil }
    }

    private mutating func renameAttribute(_ entity: Int, _ random: inout SeededGenerator) {
        guard let index = pickAttribute(entity, &random) else { return }
        let (name, entityName) = (
            schema.entities[entity].attributes[index].name, schema.entities[entity].name
        )
        guard claim("\(entityName).\(name)") else { return }
        let new = newName("renamed")
        edited.insert("\(entityName).\(new)")
        schema.entities[entity].attributes[index].name = new
        schema.entities[entity].attributes[index].originalName = name
        let kinds = schema.kinds(of: entityName)
        for other in schema.entities.indices where kinds.contains(schema.entities[other].name) {
            func renamed(_ list: [String]) -> [String] { list.map { $0 == name ? new : $0 } }
            schema.entities[other].unique = schema.entities[other].unique.map(renamed)
            schema.entities[other].indexes = schema.entities[other].indexes.map(renamed)
        }
        edits.append("rename \(entityName).\(name) to \(new)")
        change(entityName) { $1.values[new] = $1.values.removeValue(forKey: name) }
    }

    private mutating func changeType(_ entity: Int, _ random: inout SeededGenerator) {
        guard let index = pickAttribute(entity, &random) else { return }
        let attribute = schema.entities[entity].attributes[index]
        let entityName = schema.entities[entity].name
        let types: [AttributeType] =
            switch attribute.type {
            case .int16, .int32, .int64: [.int16, .int32, .int64, .double, .float, .string]
            case .float: [.double, .int64, .string]
            case .double: [.int64, .int16, .string]
            case .uuid, .url, .bool: [.string]
            case .string: [.int64, .uuid, .url]
            case .decimal, .date, .data, .json: []
            }
        guard let type = random.pick(types), type != attribute.type, attribute.defaultValue == nil,
            claim("\(entityName).\(attribute.name)")
        else { return }
        schema.entities[entity].attributes[index].type = type
        edits.append("change \(entityName).\(attribute.name) to \(type)")
        var fails = false
        change(entityName) { _, object in
            let value = object.values[attribute.name] ?? .null
            guard let converted = Self.converted(value, to: type) else {
                fails = true
                return
            }
            object.values[attribute.name] = converted
        }
        if fails { isRefused = true }
        // Distinct texts may be equal numbers.
        if attribute.isUnique { checkUniqueness(entityName, attribute.name) }
    }

    /// nil if the type does not have exactly this value.
    private static func converted(_ value: Value, to type: AttributeType) -> Value? {
        switch (value, type) {
        case (.null, _): .null
        case (.int(let int), .int16): Int16(exactly: int).map { .int(Int64($0)) }
        case (.int(let int), .int32): Int32(exactly: int).map { .int(Int64($0)) }
        case (.int, .int64): value
        case (.int(let int), .double): Double(exactly: int).map { .double($0) }
        case (.int(let int), .float): Float(exactly: int).map { .float($0) }
        case (.float(let float), .double): .double(Double(float))
        case (.float(let float), .int64): Int64(exactly: float).map { .int($0) }
        case (.double(let double), .int64): Int64(exactly: double).map { .int($0) }
        case (.double(let double), .int16): Int16(exactly: double).map { .int(Int64($0)) }
        case (.int(let int), .string): .string("\(int)")
        case (.float(let float), .string): .string("\(float)")
        case (.double(let double), .string): .string("\(double)")
        case (.bool(let bool), .string): .string(bool ? "true" : "false")
        case (.uuid(let uuid), .string): .string(uuid.uuidString)
        case (.url(let url), .string): .string(url.absoluteString)
        case (.string(let string), .int64): Int64(string).map { .int($0) }
        case (.string(let string), .uuid): UUID(uuidString: string).map { .uuid($0) }
        case (.string(let string), .url):
            URL(string: string, encodingInvalidCharacters: false).map { .url($0) }
        default: nil
        }
    }

    private mutating func checkUniqueness(_ entityName: String, _ name: String) {
        var seen: Set<Value> = []
        for (key, object) in objects.objects where schema.kinds(of: entityName).contains(key.entity)
        {
            guard let value = object.values[name], !value.isNull else { continue }
            if !seen.insert(value).inserted { isRefused = true }
        }
    }

    private mutating func changeOptional(_ entity: Int, _ random: inout SeededGenerator) {
        guard let index = pickAttribute(entity, &random) else { return }
        let attribute = schema.entities[entity].attributes[index]
        let entityName = schema.entities[entity].name
        guard attribute.defaultValue == nil, !attribute.isUnique,
            claim("\(entityName).\(attribute.name)")
        else { return }
        let value: Value? =
            random.once(in: 3) ? Value?.none : Self.simpleValue(attribute.type)
        schema.entities[entity].attributes[index].isOptional.toggle()
        edits.append("change \(entityName).\(attribute.name) to optional: \(!attribute.isOptional)")
        guard attribute.isOptional else { return }
        schema.entities[entity].attributes[index].defaultValue = value
        var fails = false
        change(entityName) { _, object in
            guard object.values[attribute.name]?.isNull == true else { return }
            guard let value else {
                fails = true
                return
            }
            object.values[attribute.name] = value
        }
        if fails { isRefused = true }
    }

    private mutating func changeIndex(_ entity: Int, _ random: inout SeededGenerator) {
        guard let index = pickAttribute(entity, &random) else { return }
        let attribute = schema.entities[entity].attributes[index]
        let entityName = schema.entities[entity].name
        guard claim("\(entityName).\(attribute.name)") else { return }
        if attribute.type == .string, random.once(in: 2) {
            schema.entities[entity].attributes[index].changeTextIndex(&random)
            edits.append("change an index of the texts of \(entityName).\(attribute.name)")
        } else if random.once(in: 2) {
            schema.entities[entity].attributes[index].isIndexed.toggle()
            edits.append("change the index of \(entityName).\(attribute.name)")
        } else {
            schema.entities[entity].attributes[index].isUnique.toggle()
            edits.append("change the uniqueness of \(entityName).\(attribute.name)")
            if !attribute.isUnique { checkUniqueness(entityName, attribute.name) }
        }
    }

    // MARK: Relationships

    private func pickRelationship(_ entity: Int, _ random: inout SeededGenerator) -> Int? {
        random.pick(Array(schema.entities[entity].relationships.indices))
    }

    /// Claims a relationship and its inverse, because both change with each other.
    private mutating func claim(_ relationship: ModelSchema.ModelRelationship, of entity: String)
        -> Bool
    {
        guard claim("\(entity).\(relationship.name)") else { return false }
        guard let inverse = relationship.inverse else { return true }
        return claim("\(relationship.destination).\(inverse)")
            || "\(relationship.destination).\(inverse)" == "\(entity).\(relationship.name)"
    }

    private mutating func changeInverse(
        of relationship: ModelSchema.ModelRelationship,
        _ body: (inout ModelSchema.ModelRelationship) -> Void
    ) {
        guard let name = relationship.inverse,
            let entity = schema.index(of: relationship.destination),
            let index = schema.entities[entity].relationships.firstIndex(where: { $0.name == name })
        else { return }
        body(&schema.entities[entity].relationships[index])
    }

    private mutating func renameRelationship(_ entity: Int, _ random: inout SeededGenerator) {
        guard let index = pickRelationship(entity, &random) else { return }
        let relationship = schema.entities[entity].relationships[index]
        let entityName = schema.entities[entity].name
        guard claim(relationship, of: entityName) else { return }
        // Names decide which side has the key, so that a rename may move all links.
        let name = random.once(in: 2) ? newName("a") : newName("z")
        edited.insert("\(entityName).\(name)")
        schema.entities[entity].relationships[index].name = name
        schema.entities[entity].relationships[index].originalName = relationship.name
        changeInverse(of: relationship) { $0.inverse = name }
        edits.append("rename \(entityName).\(relationship.name) to \(name)")
        change(entityName) { _, object in
            object.lists[name] = object.lists.removeValue(forKey: relationship.name)
            object.links[name] = object.links.removeValue(forKey: relationship.name)
        }
    }

    private mutating func changeCardinality(_ entity: Int, _ random: inout SeededGenerator) {
        guard let index = pickRelationship(entity, &random) else { return }
        let relationship = schema.entities[entity].relationships[index]
        let entityName = schema.entities[entity].name
        let name = relationship.name
        guard claim(relationship, of: entityName) else { return }
        schema.entities[entity].relationships[index].isToMany.toggle()
        schema.entities[entity].relationships[index].isOrdered = false
        edits.append("change \(entityName).\(name) to many: \(!relationship.isToMany)")
        var fails = false
        change(entityName) { _, object in
            if relationship.isToMany {
                let list = object.lists.removeValue(forKey: name) ?? []
                if list.count > 1 { fails = true }
                object.links[name] = .some(list.first)
            } else {
                let other = object.links.removeValue(forKey: name) ?? nil
                object.lists[name] = [other].compactMap(\.self)
            }
        }
        if fails { isRefused = true }
    }

    private mutating func changeOrder(_ entity: Int, _ random: inout SeededGenerator) {
        guard let index = pickRelationship(entity, &random) else { return }
        let relationship = schema.entities[entity].relationships[index]
        let entityName = schema.entities[entity].name
        guard relationship.isToMany, claim(relationship, of: entityName) else { return }
        schema.entities[entity].relationships[index].isOrdered.toggle()
        edits.append(
            "change \(entityName).\(relationship.name) to ordered: \(!relationship.isOrdered)")
        change(entityName) { _, object in
            // Without an order, and at first in a new one, objects are in the order of their keys.
            object.lists[relationship.name]?.sort(by: ModelObjects.Key.precedes)
        }
    }

    private mutating func removeRelationship(_ entity: Int, _ random: inout SeededGenerator) {
        guard let index = pickRelationship(entity, &random) else { return }
        let relationship = schema.entities[entity].relationships[index]
        let entityName = schema.entities[entity].name
        guard claim(relationship, of: entityName) else { return }
        schema.entities[entity].relationships.remove(at: index)
        changeInverse(of: relationship) { $0.inverse = nil }
        edits.append("remove \(entityName).\(relationship.name)")
        change(entityName) { _, object in
            object.lists[relationship.name] = nil
            object.links[relationship.name] = nil
        }
    }

    private mutating func addRelationship(_ entity: Int, _ random: inout SeededGenerator) {
        let entityName = schema.entities[entity].name
        guard let destination = random.pick(schema.entities)?.name else { return }
        let (name, isToMany) = (newName("r"), random.once(in: 2))
        schema.entities[entity].relationships.append(
            ModelSchema.ModelRelationship(
                name: name, destination: destination, isToMany: isToMany, isOrdered: false,
                isOptional: true, inverse: nil))
        // An entity that is renamed later would rename the destination, too.
        edits.append("add \(entityName).\(name)")
        edited.insert("\(entityName).\(name)")
        change(entityName) { _, object in
            if isToMany { object.lists[name] = [] } else { object.links[name] = .some(nil) }
        }
    }

    /// Adds a to-many inverse, whose objects follow from the links.
    private mutating func addInverse(_ entity: Int, _ random: inout SeededGenerator) {
        guard let index = pickRelationship(entity, &random) else { return }
        let relationship = schema.entities[entity].relationships[index]
        let entityName = schema.entities[entity].name
        guard relationship.inverse == nil, claim(relationship, of: entityName),
            let destination = schema.index(of: relationship.destination)
        else { return }
        let (inverse, isOrdered) = (newName("back"), random.once(in: 2))
        schema.entities[entity].relationships[index].inverse = inverse
        schema.entities[destination].relationships.append(
            ModelSchema.ModelRelationship(
                name: inverse, destination: entityName, isToMany: true, isOrdered: isOrdered,
                isOptional: true, inverse: relationship.name))
        edited.insert("\(relationship.destination).\(inverse)")
        edits.append("add the inverse \(relationship.destination).\(inverse)")
        change(relationship.destination) { $1.lists[inverse] = [] }
        let kinds = schema.kinds(of: entityName)
        let owners = objects.objects.keys.filter { kinds.contains($0.entity) }
        for owner in owners.sorted(by: ModelObjects.Key.precedes) {
            let object = objects.objects[owner]
            let others =
                object?.lists[relationship.name]
                ?? [object?.links[relationship.name] ?? nil].compactMap(\.self)
            for other in others { objects.objects[other]?.lists[inverse]?.append(owner) }
        }
    }

    // MARK: Entities

    private mutating func renameEntity(_ entity: Int, _ random: inout SeededGenerator) {
        let name = schema.entities[entity].name
        guard schema.entities[entity].originalName == nil, !name.hasSuffix("new"), claim(name)
        else { return }
        let new = random.once(in: 2) ? newName("Aaa") : newName("Zzz")
        schema.entities[entity].name = new
        schema.entities[entity].originalName = name
        for other in schema.entities.indices {
            if schema.entities[other].parent == name { schema.entities[other].parent = new }
            for index in schema.entities[other].relationships.indices
            where schema.entities[other].relationships[index].destination == name {
                schema.entities[other].relationships[index].destination = new
            }
        }
        edited = Set(
            edited.map {
                $0.hasPrefix(name + ".") ? new + $0.dropFirst(name.count) : $0
            })
        edits.append("rename \(name) to \(new)")
        func renamed(_ key: ModelObjects.Key) -> ModelObjects.Key {
            ModelObjects.Key(entity: key.entity == name ? new : key.entity, key: key.key)
        }
        objects.objects = Dictionary(
            uniqueKeysWithValues: objects.objects.map { key, object in
                var object = object
                object.lists = object.lists.mapValues { $0.map(renamed) }
                object.links = object.links.mapValues { $0.map(renamed) }
                return (renamed(key), object)
            })
    }

    private mutating func addEntity(
        below parent: String?, _ random: inout SeededGenerator
    ) {
        let name = newName("Entity")
        schema.entities.append(
            ModelSchema.ModelEntity(
                name: name, parent: parent, isAbstract: false,
                attributes: [
                    ModelSchema.ModelAttribute(
                        name: newName("own"), type: .string, isOptional: false, isUnique: false,
                        isIndexed: false)
                ], relationships: [], unique: [], indexes: []))
        edits.append("add \(name) below \(parent ?? "none")")
    }

    private mutating func removeEntity(_ entity: Int, _ random: inout SeededGenerator) {
        let name = schema.entities[entity].name
        // It could have the only objects that an edit before did not permit.
        guard !isRefused, schema.entities.count > 1, schema.kinds(of: name) == [name],
            !name.hasSuffix("new"),
            // A relationship that led to this entity alone goes with it; it must not have been
            // edited before.
            !edited.contains(where: { $0.hasPrefix(name + ".") })
        else { return }
        let leading = schema.entities.flatMap { other in
            other.relationships.filter { $0.destination == name || $0.inverse != nil }.map {
                (other.name, $0)
            }
        }.filter { other, relationship in
            relationship.destination == name && other != name
        }
        guard !leading.contains(where: { edited.contains("\($0.0).\($0.1.name)") }), claim(name)
        else { return }
        edits.append("remove \(name)")
        for (other, relationship) in leading {
            guard let index = schema.index(of: other) else { continue }
            edited.insert("\(other).\(relationship.name)")
            schema.entities[index].relationships.removeAll { $0.name == relationship.name }
            change(other) { _, object in
                object.lists[relationship.name] = nil
                object.links[relationship.name] = nil
            }
        }
        for relationship in schema.entities[entity].relationships {
            changeInverse(of: relationship) { $0.inverse = nil }
        }
        schema.entities.remove(at: entity)
        objects.objects = objects.objects.filter { $0.key.entity != name }
        // Objects of other entities may have led to it by its parent.
        for key in objects.objects.keys {
            for (list, keys) in objects.objects[key]?.lists ?? [:] {
                objects.objects[key]?.lists[list] = keys.filter { $0.entity != name }
            }
            for (link, other) in objects.objects[key]?.links ?? [:] where other?.entity == name {
                objects.objects[key]?.links[link] = .some(nil)
            }
        }
    }
}
