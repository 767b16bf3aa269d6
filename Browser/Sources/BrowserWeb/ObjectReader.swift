import BrowserViews
import LarderClient

/// Reads an object for its page.
struct ObjectReader {
    /// The longest text and JSON document on the page.
    static let charactersMax = 65_536
    /// Objects that are shown of each relationship.
    static let objectsMax = 20
    /// A list up to this length is read as a whole, in its order.
    static let listMax: Int64 = 1_000
    /// Columns of one query; an entity may have more properties.
    private static let columnsMax = 200

    let client: StoreClient
    let schema: Schema
    let identifier: PersistentIdentifier
    let entity: Entity

    init(
        _ client: StoreClient, _ schema: Schema, _ identifier: PersistentIdentifier
    ) throws(BrowseError) {
        self.client = client
        self.schema = schema
        self.identifier = identifier
        entity = try schema.requiredEntity(identifier.entityName)
    }

    private var isSelf: QueryTerm {
        .tree(.comparison(Comparison(.object, .equal, .argument(0))))
    }

    private var arguments: QueryParameters {
        QueryParameters(arguments: [.value(.object(identifier))])
    }

    /// - Throws: ``BrowseError/unknownObject(_:)``.
    func page() async throws -> ObjectPage {
        var columns = ReadColumns()
        let label = entity.labelAttribute.map { name in
            columns.add { QueryColumn(startOf: [name], characters: 80, name: $0) }
        }
        let attributes = entity.attributes.map(Property.attribute)
        let relationships = entity.relationships.map(Property.relationship)
        let properties = (attributes + relationships).map {
            schema.reading($0, characters: Self.charactersMax, &columns)
        }
        let record = try await record(columns.columns)
        var shown: [ObjectPage.Property] = []
        var lists: [ObjectPage.List] = []
        for property in properties {
            var value = property.shown(record, characters: Self.charactersMax)
            switch property.kind {
            case .toMany:
                guard case .count(let count) = value else { continue }
                lists.append(try await list(property.name, count))
                continue
            case .data where value != .null: value = try await data(property.name)
            case .attribute, .data, .toOne: break
            }
            shown.append(
                ObjectPage.Property(
                    name: property.name, details: details(property.name), value: value))
        }
        let object = ShownObject(
            record.identifier, label: label.flatMap { record[$0] }?.text)
        return ObjectPage(
            object: object, version: record.version, properties: shown, lists: lists,
            references: try await references())
    }

    /// The columns of the object, read in several queries if there are very many.
    private func record(_ columns: [QueryColumn]) async throws -> Record {
        var record: Record?
        for start in stride(from: 0, to: max(1, columns.count), by: Self.columnsMax) {
            let part = Array(columns.dropFirst(start).prefix(Self.columnsMax))
            let fetch = Fetch(
                entity.name, where: isSelf,
                selection: part.isEmpty ? .identifiers : .columns(part))
            guard let found = try await client.fetch(fetch, arguments).objects.first else {
                throw BrowseError.unknownObject(identifier.shortText)
            }
            if record == nil { record = found }
            record?.values.merge(found.values) { $1 }
        }
        guard let record else { throw BrowseError.unknownObject(identifier.shortText) }
        return record
    }

    private func data(_ name: String) async throws -> ShownValue {
        let records = try await client.objects(for: [identifier], properties: [name])
        return ShownValue(records.first?[name] ?? .null, charactersMax: Self.charactersMax)
    }

    /// The type of a property and what the schema says of it.
    private func details(_ name: String) -> String {
        switch entity.property(named: name) {
        case .attribute(let attribute):
            let isUnique = entity.uniquenessConstraints.contains([name])
            return
                ([attribute.type.rawValue]
                + [
                    attribute.isOptional ? "optional" : nil, isUnique ? "unique" : nil,
                    attribute.isDerived ? "derived" : nil,
                ].compactMap { $0 }).joined(separator: ", ")
        case .relationship(let relationship):
            let inverse = relationship.inverse.map { ", inverse \($0)" } ?? ""
            return "\(relationship.destination)\(inverse)"
        case nil: return ""
        }
    }

    // MARK: - Related objects

    private func list(_ name: String, _ count: Int64) async throws -> ObjectPage.List {
        guard case .relationship(let relationship)? = entity.property(named: name) else {
            throw BrowseError.notAddressable
        }
        let destination = relationship.destination
        let predicate = inverse(of: relationship).map { selects($0) }
        var objects: [ShownObject] = []
        if count > 0, count <= Self.listMax {
            let records = try await client.objects(for: [identifier], properties: [name])
            guard case .objects(let identifiers)? = records.first?[name] else {
                throw BrowseError.unknownObject(identifier.shortText)
            }
            objects = try await labelled(Array(identifiers.prefix(Self.objectsMax)), destination)
        } else if count > 0, let predicate {
            objects = try await first(of: destination, where: predicate)
        }
        return ObjectPage.List(
            name: name, details: details(name) + (relationship.isOrdered ? ", ordered" : ""),
            count: count, objects: objects,
            address: predicate.map { Link.rows(of: destination, where: $0.format) })
    }

    private func inverse(of relationship: Relationship) -> Relationship? {
        guard let name = relationship.inverse,
            case .relationship(let inverse)? = schema.entity(named: relationship.destination)?
                .property(named: name)
        else { return nil }
        return inverse
    }

    /// The predicate of the objects that refer to this one by a relationship.
    private func selects(_ relationship: Relationship) -> QueryExpression {
        .comparison(
            Comparison(
                .keyPath(.object, [relationship.name]), .equal, .constant(.object(identifier)),
                modifier: relationship.isToMany ? .any : .direct))
    }

    private func labelColumn(_ entityName: String) -> [QueryColumn] {
        guard let name = schema.labelAttribute(of: entityName) else { return [] }
        return [QueryColumn(startOf: [name], characters: 80, name: "label")]
    }

    private func first(
        of entityName: String, where predicate: QueryExpression
    ) async throws -> [ShownObject] {
        let columns = labelColumn(entityName)
        let fetch = Fetch(
            entityName, where: .tree(predicate),
            selection: columns.isEmpty ? .identifiers : .columns(columns))
        let parameters = QueryParameters(limit: Int64(Self.objectsMax))
        return try await client.fetch(fetch, parameters).objects.map {
            ShownObject($0.identifier, label: $0["label"]?.text)
        }
    }

    /// The objects with their labels, in their order.
    private func labelled(
        _ identifiers: [PersistentIdentifier], _ entityName: String
    ) async throws -> [ShownObject] {
        let columns = labelColumn(entityName)
        guard !columns.isEmpty else { return identifiers.map { ShownObject($0, label: nil) } }
        let isListed = Comparison(.object, .in, .argument(0))
        let records = try await client.fetch(
            Fetch(
                entityName, where: .tree(.comparison(isListed)), selection: .columns(columns)),
            QueryParameters(arguments: [.list(identifiers.map { .object($0) })]))
        let labels = Dictionary(
            records.objects.map { ($0.identifier, $0["label"]?.text) },
            uniquingKeysWith: { first, _ in first })
        return identifiers.map { ShownObject($0, label: labels[$0] ?? nil) }
    }

    /// The objects that refer to this one by relationships without an inverse.
    private func references() async throws -> [ObjectPage.List] {
        var lists: [ObjectPage.List] = []
        for other in schema.entities {
            for relationship in other.declared.relationships
            where relationship.inverse == nil
                && schema.isKind(entity.name, of: relationship.destination)
            {
                let predicate = selects(relationship)
                let count = try await client.count(other.name, where: predicate.format)
                guard count > 0 else { continue }
                lists.append(
                    ObjectPage.List(
                        name: "\(other.name).\(relationship.name)", details: "", count: count,
                        objects: try await first(of: other.name, where: predicate),
                        address: Link.rows(of: other.name, where: predicate.format)))
            }
        }
        return lists
    }

    // MARK: - Changes

    /// The object and each change of it and of the labels and numbers on its page.
    func changes() -> LiveResults {
        var columns = ReadColumns()
        for relationship in entity.relationships.prefix(Self.columnsMax / 2) {
            let property = schema.reading(
                .relationship(relationship), characters: 80, &columns)
            _ = property
        }
        let selection: Fetch.Selection =
            columns.columns.isEmpty ? .identifiers : .columns(columns.columns)
        return client.observe(
            Fetch(entity.name, where: isSelf, selection: selection), arguments,
            every: .milliseconds(100))
    }
}
