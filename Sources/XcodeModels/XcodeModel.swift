package import LarderModel
internal import LarderQuery

/// A model of Core Data as Xcode's editor writes it.
package struct XcodeModel {
    package struct Entity {
        package var entity: LarderModel.Entity
        /// The class of its objects; nil for none of its own.
        package let className: String?
        /// Attributes that no store has.
        package let transient: [Attribute]
        /// Properties that are requests, by their names.
        package let fetched: [String: FetchRequest]
    }

    /// A request that the model stores.
    package struct FetchRequest {
        package let name: String
        package let entityName: String
        package let predicate: String?
        package let limit: Int
        package let resultType: UInt
        package let includesSubentities: Bool

        fileprivate init(_ element: XMLElement) {
            name = element["name"] ?? ""
            entityName = element["entity"] ?? ""
            predicate = element["predicateString"]
            limit = element["fetchLimit"].flatMap { Int($0) } ?? 0
            resultType = element["resultType"].flatMap { UInt($0) } ?? 0
            includesSubentities = element["includeSubentities"] != "NO"
        }
    }

    package private(set) var entities: [Entity] = []
    /// The parts of the model that Larder does not have, as sentences.
    package private(set) var notes: [String] = []
    package private(set) var fetchRequests: [FetchRequest] = []

    /// The parts of the model that no schema has, as sentences.
    package var schemaNotes: [String] {
        let fetched = entities.flatMap { entity in
            entity.fetched.keys.sorted().map { "fetched property \(entity.entity.name).\($0)" }
        }
        let requests = fetchRequests.map { "fetch request \($0.name)" }
        return notes
            + (fetched + requests).map { "the \($0) is no part of a schema; CoreData reads it" }
    }

    /// - Throws: `malformedSchema` for a document that is no model, with the entity and property.
    init(_ document: XMLElement) throws(LarderError) {
        guard document.name == "model" else {
            throw Self.malformed("the file is no model: its element is <\(document.name)>")
        }
        for element in document.children {
            switch element.name {
            case "entity": try add(element)
            case "fetchRequest": fetchRequests.append(FetchRequest(element))
            case "composite": note("the composite attribute \(element["name"] ?? "")")
            default: break
            }
        }
        guard !entities.isEmpty else { throw Self.malformed("the model has no entities") }
    }

    static func malformed(_ reason: String) -> LarderError { LarderError(.malformedSchema, reason) }

    private mutating func note(_ what: String) { notes.append("\(what) is left out") }

    private mutating func add(_ element: XMLElement) throws(LarderError) {
        guard let name = element["name"], !name.isEmpty else {
            throw Self.malformed("an entity has no name")
        }
        var attributes: [Attribute] = []
        var transient: [Attribute] = []
        for child in element.children("attribute") {
            let reader = try XcodeAttribute(child, of: name)
            notes += reader.notes
            if child.isOn("transient") {
                transient.append(reader.attribute)
            } else {
                attributes.append(reader.attribute)
            }
        }
        var relationships: [Relationship] = []
        for child in element.children("relationship") {
            relationships.append(try Self.relationship(child, of: name))
        }
        var fetched: [String: FetchRequest] = [:]
        for child in element.children("fetchedProperty") {
            fetched[child["name"] ?? ""] = child.child("fetchRequest").map(FetchRequest.init)
        }
        let constraints = element.child("uniquenessConstraints")?.children ?? []
        let unique = constraints.map { constraint in
            constraint.children("constraint").compactMap { $0["value"] }
        }
        let entity = LarderModel.Entity(
            name: name, attributes: attributes, relationships: relationships,
            uniquenessConstraints: unique, indexes: indexes(element, of: name),
            parent: element["parentEntity"], isAbstract: element.isOn("isAbstract"),
            originalName: element["elementID"], hashModifier: element["versionHashModifier"])
        // A name that begins with a period is in the program's own module.
        let className = element["representedClassName"].map { name in
            String(name.drop { $0 == "." })
        }
        entities.append(
            Entity(
                entity: entity, className: className == "NSManagedObject" ? nil : className,
                transient: transient, fetched: fetched))
    }

    /// The indexes of properties. One of an expression or of locations is left out.
    private mutating func indexes(_ element: XMLElement, of name: String) -> [[String]] {
        element.children("fetchIndex").compactMap { index in
            let elements = index.children("fetchIndexElement")
            let names = elements.compactMap { $0["property"] }
            guard !names.isEmpty, names.count == elements.count,
                !elements.contains(where: { $0["type"] == "RTree" })
            else {
                note("the index \(name).\(index["name"] ?? "")")
                return nil
            }
            return names
        }
    }

    private static func relationship(
        _ element: XMLElement, of entity: String
    ) throws(LarderError) -> Relationship {
        let name = element["name"] ?? ""
        guard let destination = element["destinationEntity"] else {
            throw malformed("\(entity).\(name) has no destination")
        }
        let isToMany = element.isOn("toMany")
        return Relationship(
            name: name, destination: destination, isToMany: isToMany,
            isOrdered: element.isOn("ordered"), isOptional: element.isOn("optional"),
            inverse: element["inverseName"], deleteRule: rule(element["deletionRule"]),
            minCount: isToMany ? try count("minCount", element, entity) : 0,
            maxCount: isToMany ? try count("maxCount", element, entity) : 0,
            originalName: element["elementID"], hashModifier: element["versionHashModifier"])
    }

    private static func rule(_ name: String?) -> Relationship.DeleteRule {
        switch name {
        case "Cascade": .cascade
        case "Deny": .deny
        case "No Action": .noAction
        default: .nullify
        }
    }

    private static func count(
        _ key: String, _ element: XMLElement, _ entity: String
    ) throws(LarderError) -> Int {
        guard let text = element[key] else { return 0 }
        guard let count = Int(text), count >= 0 else {
            throw malformed("\(entity).\(element["name"] ?? ""): \(key) is \(text)")
        }
        return count
    }

    /// The schema of a store with the model.
    ///
    /// - Throws: `malformedSchema` with all problems.
    package func schema() throws(LarderError) -> Schema {
        do throws(SchemaError) {
            return try Schema(entities: entities.map(\.entity))
        } catch {
            throw error.larderError
        }
    }
}
