import FoundationEssentials
import LarderModel

/// An object line or a link line of a dump, with the identifiers of the dump.
struct DumpItem {
    let line: Int
    let byteCount: Int
    let object: PersistentIdentifier
    /// Whether the line links an object of an earlier line.
    let isLink: Bool
    var attributes: [String: Value] = [:]
    var references: [(name: String, objects: [PersistentIdentifier], isToMany: Bool)] = []

    /// The objects that must be stored before this line, or with it.
    var needed: [PersistentIdentifier] {
        (isLink ? [object] : []) + references.flatMap(\.objects)
    }
}

/// Decodes the lines of a dump for the schema of a store.
struct DumpDecoder {
    private let store: Schema
    private let dump: UUID
    /// The largest key of each entity so far.
    private var lastKeys: [String: Int64] = [:]

    init(_ dump: DumpHeader, for store: Schema) {
        self.store = store
        self.dump = dump.store
    }

    /// - Throws: `malformedIdentifier`, `malformedValue`, `wrongType`, `unknownEntity`,
    ///   `unknownProperty`, without the line.
    mutating func item(_ line: DumpReader.Line) throws(LarderError) -> DumpItem {
        let isLink = line.members["@link"] != nil
        let member = isLink ? "@link" : "@id"
        guard case .string(let text)? = line.members[member] else {
            throw LarderError(
                .malformedValue, "the line needs the member @id or @link with the key of an object")
        }
        let object = try identifier(text)
        guard let entity = store.entity(named: object.entityName) else {
            throw LarderError.unknownEntity(object.entityName, in: store)
        }
        if !isLink { try checkOrder(of: object) }
        var item = DumpItem(
            line: line.number, byteCount: line.byteCount, object: object, isLink: isLink)
        item.attributes.reserveCapacity(line.members.count)
        for (name, json) in line.members where name != member {
            do throws(LarderError) {
                try read(json, name, entity, into: &item)
            } catch {
                var named = error
                named.message = "\(entity.name).\(name): \(error.message)"
                throw named
            }
        }
        return item
    }

    private mutating func checkOrder(of object: PersistentIdentifier) throws(LarderError) {
        let key = object.permanentKey ?? 0
        guard key > lastKeys[object.entityName, default: 0] else {
            throw LarderError(
                .malformedValue,
                "the keys of \(object.entityName) must ascend, and \(object.shortText) does not")
        }
        lastKeys[object.entityName] = key
    }

    private func read(
        _ json: JSONValue, _ name: String, _ entity: Entity, into item: inout DumpItem
    ) throws(LarderError) {
        switch (entity.property(named: name), json) {
        case (nil, _):
            throw LarderError.unknownProperty(name, of: entity)
        case (.attribute, _) where item.isLink:
            throw LarderError(.wrongType, "a line with @link takes relationships only")
        case (.attribute, .null): item.attributes[name] = .null
        case (.attribute(let attribute), .string(let text)) where attribute.type == .json:
            item.attributes[name] = .json(text)
        case (.attribute(let attribute), _) where attribute.type == .json:
            throw LarderError(.wrongType, "expected a JSON document in a string")
        case (.attribute(let attribute), _):
            item.attributes[name] = try Value(json: json, type: attribute.type)
        case (.relationship(let relationship), .null) where !relationship.isToMany:
            item.attributes[name] = .null
        case (.relationship(let relationship), .string(let text)) where !relationship.isToMany:
            let other = try identifier(text)
            item.references.append((name, [other], isToMany: false))
        case (.relationship(let relationship), .array(let elements)) where relationship.isToMany:
            var objects: [PersistentIdentifier] = []
            objects.reserveCapacity(elements.count)
            for element in elements {
                guard case .string(let text) = element else {
                    throw LarderError(.wrongType, "each element must be the key of an object")
                }
                objects.append(try identifier(text))
            }
            item.references.append((name, objects, isToMany: true))
        case (.relationship(let relationship), _):
            throw LarderError(
                .wrongType,
                relationship.isToMany
                    ? "a to-many relationship requires an array of keys"
                    : "a to-one relationship requires the key of an object, or null")
        }
    }

    /// A key of the dump, such as `Article/p7`.
    private func identifier(_ text: String) throws(LarderError) -> PersistentIdentifier {
        let identifier = try PersistentIdentifier(text: text, in: dump)
        guard identifier.store == dump else {
            throw LarderError(
                .foreignIdentifier, "\(text) is not a key of the dump",
                hint: "objects in a dump have keys such as Article/p7")
        }
        return identifier
    }
}
