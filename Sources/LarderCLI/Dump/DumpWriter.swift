import FoundationEssentials
import LarderClient
import LarderModel

/// Writes the objects and links of a snapshot as a dump, in bounded memory.
///
/// `docs/dump.md` describes the format. The same objects and links give the same lines: entities in
/// the order of the plan, objects in the order of their keys, the members of a line by name, and
/// lists without an order in that of the objects.
struct DumpWriter {
    /// The objects in one line of a list.
    static let listObjectsMax = 1_000

    private let snapshot: StoreClient
    private let store: UUID
    private let schema: Schema
    private let plan: DumpPlan
    private let links: DumpLinks
    private var output: DumpOutput
    private var progress = Progress("dumped")
    /// The number of objects of the store; 0 if no progress is shown.
    private var objectCount: Int64 = 0
    /// The to-one relationships, as `Entity.name`, with references to objects that follow.
    private var forwardReferences: Set<String> = []

    init(_ snapshot: StoreClient, _ output: DumpOutput) throws(LarderError) {
        self.snapshot = snapshot
        self.output = output
        store = snapshot.server.storeIdentifier
        schema = try snapshot.schema()
        plan = DumpPlan(schema)
        links = DumpLinks(schema)
    }

    /// Writes the whole dump.
    ///
    /// - Returns: the numbers of objects and links.
    mutating func run() throws(LarderError) -> DumpEnd {
        defer { progress.end() }
        try output.write(
            header: DumpHeader(
                store: store, transaction: snapshot.snapshotPosition?.number ?? 0, time: Date(),
                schema: schema))
        if progress.isShown {
            for entity in plan.entities {
                objectCount += try snapshot.objectCount(of: entity.entity.name)
            }
        }
        for entity in plan.entities { try writeObjects(of: entity) }
        for entity in plan.entities { try writeLinks(of: entity) }
        try output.end()
        return output.counts
    }

    // MARK: Objects

    private mutating func writeObjects(of entity: DumpPlan.EntityPlan) throws(LarderError) {
        let name = entity.entity.name
        let existing = try existingKeys(entity.references)
        let batches = try snapshot.stream(
            .fetch(
                Fetch(
                    name, selection: try Self.selection(of: entity), includesSubentities: false)))
        while let batch = try batches.next() {
            let members = try members(of: entity, in: batch)
            for (row, key) in (batch.identity?.keys ?? []).enumerated() {
                let object = PersistentIdentifier(store: store, entityName: name, key: key)
                var line = DumpLine("@id", object)
                for member in members {
                    var value = batch.value(row: row, column: member.column, store: store)
                    if case .object(let other) = value, let reference = member.reference {
                        if !exists(other, reference, existing) {
                            value = .null
                        } else if !reference.isRequiredInDump, !plan.precedes(other, object) {
                            forwardReferences.insert("\(name).\(reference.name)")
                            continue
                        }
                    }
                    if case .objects(let list) = value, member.reference?.isOrdered == false {
                        value = .objects(list.sorted(by: plan.precedes))
                    }
                    line.append(member.name, value)
                }
                try output.write(object: line.end())
            }
            progress.show(Int(output.counts.objectCount), of: objectCount)
        }
    }

    /// Lists have to be selected, and a query has fewer columns than an entity may have properties.
    private static func selection(
        of entity: DumpPlan.EntityPlan
    ) throws(LarderError) -> Fetch.Selection {
        guard entity.references.contains(where: \.isToMany) else { return .objects }
        let names = entity.attributes.map(\.name) + entity.references.map(\.name)
        guard names.count <= Limits.queryColumnsMax else {
            throw LarderError(
                .unsupported,
                """
                \(entity.entity.name) has a required to-many relationship and more than \
                \(Limits.queryColumnsMax) properties, which cannot be dumped
                """, hint: "make a backup: larder backup FILE")
        }
        return .columns(names.map(Self.column))
    }

    private static func column(_ name: String) -> QueryColumn {
        QueryColumn(.tree(.keyPath(.object, [name])), name: name)
    }

    private struct Member {
        let name: DumpLine.Name
        let column: Int
        let reference: Relationship?
    }

    /// The members of the lines with their columns in a batch, by name.
    private func members(
        of entity: DumpPlan.EntityPlan, in batch: Batch
    ) throws(LarderError) -> [Member] {
        let wanted =
            entity.attributes.map { ($0.name, Relationship?.none) }
            + entity.references.map { ($0.name, $0) }
        return try wanted.sorted { $0.0 < $1.0 }.map { (name, reference) throws(LarderError) in
            guard let column = batch.columns.firstIndex(where: { $0.name == name }) else {
                throw LarderError(
                    .malformedMessage, "the reply of the server lacks the column \(name)")
            }
            return Member(name: DumpLine.Name(name), column: column, reference: reference)
        }
    }

    /// For each relationship that may have references to deleted objects, the keys of the objects
    /// that exist. The delete rule `noAction` leaves such references, and no store accepts them.
    private func existingKeys(
        _ references: [Relationship]
    ) throws(LarderError) -> [String: LoadedKeys] {
        var found: [String: LoadedKeys] = [:]
        for reference in references where links.mayDangle(reference) {
            var keys = LoadedKeys()
            let batches = try snapshot.stream(
                .fetch(Fetch(reference.destination, selection: .identifiers)))
            while let batch = try batches.next() {
                for key in batch.identity?.keys ?? [] {
                    try keys.append(key, key, of: reference.destination)
                }
            }
            found[reference.name] = keys
        }
        return found
    }

    private func exists(
        _ object: PersistentIdentifier, _ reference: Relationship, _ existing: [String: LoadedKeys]
    ) -> Bool {
        guard let keys = existing[reference.name], let key = object.permanentKey else {
            return true
        }
        return keys.key(for: key, of: reference.destination) != nil
    }

    // MARK: Links

    private mutating func writeLinks(of entity: DumpPlan.EntityPlan) throws(LarderError) {
        let name = entity.entity.name
        for reference in entity.references
        where forwardReferences.contains("\(name).\(reference.name)") {
            try writeLinks(reference, of: name)
        }
        for list in entity.lists { try writeLinks(list, of: name) }
    }

    private mutating func writeLinks(
        _ relationship: Relationship, of entityName: String
    ) throws(LarderError) {
        let name = DumpLine.Name(relationship.name)
        let existing = try existingKeys([relationship])
        let batches = try snapshot.stream(
            .fetch(
                Fetch(
                    entityName, selection: .columns([Self.column(relationship.name)]),
                    includesSubentities: false)))
        while let batch = try batches.next() {
            for (row, key) in (batch.identity?.keys ?? []).enumerated() {
                let object = PersistentIdentifier(store: store, entityName: entityName, key: key)
                switch batch.value(row: row, column: 0, store: store) {
                case .object(let other)
                where !plan.precedes(other, object) && exists(other, relationship, existing):
                    try write(link: name, of: object, .object(other))
                case .objects(let list) where !list.isEmpty:
                    try write(list, name, of: object, isOrdered: relationship.isOrdered)
                default: break
                }
            }
        }
    }

    /// Writes a list on one or more lines, so that no line is too long to be read.
    private mutating func write(
        _ list: [PersistentIdentifier], _ name: DumpLine.Name, of object: PersistentIdentifier,
        isOrdered: Bool
    ) throws(LarderError) {
        var rest = (isOrdered ? list : list.sorted(by: plan.precedes))[...]
        while !rest.isEmpty {
            try write(link: name, of: object, .objects(Array(rest.prefix(Self.listObjectsMax))))
            rest = rest.dropFirst(Self.listObjectsMax)
        }
    }

    private mutating func write(
        link name: DumpLine.Name, of object: PersistentIdentifier, _ value: Value
    ) throws(LarderError) {
        var line = DumpLine("@link", object)
        line.append(name, value)
        try output.write(link: line.end())
    }
}
