import BrowserViews
import LarderClient

/// Finds what a deletion would change: it follows the delete rules without deleting anything.
struct DeletionReader {
    /// Objects that are followed; there may be millions.
    static let objectsMax = 1_000
    private static let examplesMax = 5

    let client: StoreClient
    let schema: Schema

    func preview(of identifier: PersistentIdentifier) async throws -> DeletionPreview {
        guard let record = try await client.objects(for: [identifier], properties: []).first
        else { throw BrowseError.unknownObject(identifier.shortText) }
        let labels = try await labels(of: [record.identifier])
        var preview = DeletionPreview(
            object: ShownObject(record.identifier, label: labels[record.identifier]),
            version: record.version)
        var deleted: [PersistentIdentifier] = [record.identifier]
        var seen = Set(deleted)
        var next = 0
        var related: [(name: String, rule: Relationship.DeleteRule, [PersistentIdentifier])] = []
        while next < deleted.count, !preview.isIncomplete {
            let object = deleted[next]
            next += 1
            for relationship in try schema.requiredEntity(object.entityName).relationships {
                let name = "\(object.entityName).\(relationship.name)"
                guard let others = try await self.related(to: object, by: relationship) else {
                    preview.isIncomplete = true
                    continue
                }
                if relationship.deleteRule == .cascade {
                    for other in others where seen.insert(other).inserted { deleted.append(other) }
                    if deleted.count > Self.objectsMax { preview.isIncomplete = true }
                } else if !others.isEmpty {
                    related.append((name, relationship.deleteRule, others))
                }
            }
        }
        preview.deleted = try await groups(Array(deleted.dropFirst()))
        for (name, rule, others) in related {
            // Objects that are deleted too neither refuse a deletion nor lose anything.
            let remaining = Int64(others.count { !seen.contains($0) })
            guard remaining > 0 else { continue }
            switch rule {
            case .deny: Self.add(remaining, of: name, to: &preview.denied)
            case .nullify: Self.add(remaining, of: name, to: &preview.nullified)
            case .cascade, .noAction: break
            }
        }
        return preview
    }

    private static func add(
        _ count: Int64, of name: String, to counts: inout [(name: String, count: Int64)]
    ) {
        if let index = counts.firstIndex(where: { $0.name == name }) {
            counts[index].count += count
        } else {
            counts.append((name, count))
        }
    }

    /// The related objects; nil if there are too many to look at.
    private func related(
        to object: PersistentIdentifier, by relationship: Relationship
    ) async throws -> [PersistentIdentifier]? {
        if relationship.isToMany {
            let isSelf = Comparison(.object, .equal, .argument(0))
            let count = QueryExpression.collection(.count, .keyPath(.object, [relationship.name]))
            let record = try await client.fetch(
                Fetch(
                    object.entityName, where: .tree(.comparison(isSelf)),
                    selection: .columns([QueryColumn(.tree(count), name: "count")])),
                QueryParameters(arguments: [.value(.object(object))])
            ).objects.first
            guard case .int(let number)? = record?["count"] else { return [] }
            if number == 0 { return [] }
            guard number <= Int64(Self.objectsMax) else { return nil }
        }
        let records = try await client.objects(for: [object], properties: [relationship.name])
        switch records.first?[relationship.name] {
        case .object(let identifier): return [identifier]
        case .objects(let identifiers): return identifiers
        default: return []
        }
    }

    private func groups(
        _ identifiers: [PersistentIdentifier]
    ) async throws -> [(entityName: String, count: Int, examples: [ShownObject])] {
        var groups: [(entityName: String, count: Int, examples: [ShownObject])] = []
        let byEntity = Dictionary(grouping: identifiers, by: \.entityName)
        for (entityName, objects) in byEntity.sorted(by: { $0.key < $1.key }) {
            let first = Array(objects.prefix(Self.examplesMax))
            let labels = try await labels(of: first)
            groups.append(
                (entityName, objects.count, first.map { ShownObject($0, label: labels[$0]) }))
        }
        return groups
    }

    /// The labels of objects of one entity.
    private func labels(
        of identifiers: [PersistentIdentifier]
    ) async throws -> [PersistentIdentifier: String] {
        guard let entityName = identifiers.first?.entityName,
            let label = schema.labelAttribute(of: entityName)
        else { return [:] }
        let isListed = Comparison(.object, .in, .argument(0))
        let found = try await client.fetch(
            Fetch(
                entityName, where: .tree(.comparison(isListed)),
                selection: .columns([
                    QueryColumn(startOf: [label], characters: 80, name: "label")
                ])),
            QueryParameters(arguments: [.list(identifiers.map { .object($0) })]))
        return Dictionary(
            found.objects.map { ($0.identifier, $0["label"]?.text ?? "") },
            uniquingKeysWith: { first, _ in first })
    }
}
