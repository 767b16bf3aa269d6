import FoundationEssentials
import LarderClient
import LarderModel

/// Loads the lines of a dump as change sets: each line is an insert or an update.
///
/// A line that refers to an object that is neither stored nor in the same set waits for a later
/// set. The next set is read while the previous one is committed.
struct DumpLoader {
    struct Options {
        /// Whether everything is one change set.
        var isAtomic = false
        var updatesExisting = false
    }

    /// The limits of one change set, except for lines that have waited for each other.
    static let linesMax = ChangeSetImporter.objectsMax
    static let bytesMax = ChangeSetImporter.bytesMax
    /// The text of lines that wait, besides the longest one.
    static let waitingBytesMax = 8 << 20

    private let client: StoreClient
    private let store: UUID
    private let options: Options
    private let schema: Schema
    private let links: DumpLinks
    private var reader: DumpReader
    private var decoder: DumpDecoder

    private var items: [DumpItem] = []
    private var bytes = 0
    private var waiting: [DumpItem] = []
    private var keys = LoadedKeys()
    private var pending: PendingSave?
    private(set) var counts = DumpEnd()

    private struct PendingSave {
        let items: [DumpItem]
        let call: SaveCall
    }

    /// - Throws: `schemaMismatch` with all differences.
    init(_ reader: DumpReader, _ session: StoreSession, _ options: Options) throws(LarderError) {
        client = session.client
        store = session.storeIdentifier
        schema = try client.schema()
        try DumpDifferences.check(reader.header.schema, against: schema)
        self.options = options
        self.reader = reader
        self.reader.acceptObjects(ofBytes: client.server.objectBytesMax)
        links = DumpLinks(reader.header.schema)
        decoder = DumpDecoder(reader.header, for: schema)
    }

    /// Loads all lines.
    ///
    /// - Returns: the numbers of objects and links that were stored.
    mutating func run() throws(LarderError) -> DumpEnd {
        var progress = Progress("loaded")
        defer { progress.end() }
        do throws(LarderError) {
            while let item = try next() {
                if isFull(before: item) {
                    try send()
                    progress.show(Int(counts.objectCount), fraction: reader.readFraction)
                }
                items.append(item)
                bytes += item.byteCount
            }
            try send()
            try finish()
            if let item = waiting.first { throw missing(for: item) }
        } catch {
            throw error.code == .indeterminate ? error : error.adding(hint: progressText)
        }
        return counts
    }

    private var progressText: String {
        switch counts.objectCount {
        case 0: "nothing was stored"
        case 1: "1 object was stored"
        default: "\(counts.objectCount) objects were stored"
        }
    }

    /// The next line. Lines before an invalid one are stored first, so that an error in them is the
    /// one to report.
    private mutating func next() throws(LarderError) -> DumpItem? {
        do throws(LarderError) {
            guard let line = try reader.next() else { return nil }
            do throws(LarderError) {
                return try decoder.item(line)
            } catch {
                throw error.at(line: line.number, of: reader.fileName)
            }
        } catch {
            try finish()
            throw error
        }
    }

    private func isFull(before item: DumpItem) -> Bool {
        !options.isAtomic
            && (items.count >= Self.linesMax
                || !items.isEmpty && bytes + item.byteCount > Self.bytesMax)
    }

    // MARK: Change sets

    private mutating func send() throws(LarderError) {
        try finish()
        let (ready, blocked) = divided(waiting + items)
        waiting = blocked
        items = []
        bytes = 0
        let byteCounts = waiting.map(\.byteCount)
        let waitingBytes = byteCounts.reduce(0, +) - (byteCounts.max() ?? 0)
        if waitingBytes > Self.waitingBytesMax, let item = waiting.first {
            throw LarderError(
                .resourceExhausted,
                "more than \(Self.waitingBytesMax >> 20) MiB of objects wait for others that "
                    + "follow them",
                hint: "load the dump in one transaction (--atomic), if it is small enough"
            ).at(line: item.line, of: reader.fileName)
        }
        guard !ready.isEmpty else { return }
        let changes = ChangeSet(
            changes(ready), onUniqueConflict: options.updatesExisting ? .upsert : .error)
        pending = PendingSave(
            items: ready, call: try SaveCall(of: changes, by: client))
    }

    /// Waits for the pending set.
    private mutating func finish() throws(LarderError) {
        guard let sent = pending else { return }
        pending = nil
        let result: SaveResult
        do throws(LarderError) {
            result = try sent.call.wait().get()
        } catch {
            let lines = sent.items.map(\.line)
            throw ChangeLineNumbers(fileName: reader.fileName, lines: lines).locating(error)
                ?? error.at(lines: lines, of: reader.fileName)
        }
        let objects = sent.items.filter { !$0.isLink }.map(\.object)
        guard result.inserted.count == objects.count else {
            throw LarderError(.malformedMessage, "the reply of the server lacks inserted objects")
        }
        for (object, stored) in zip(objects, result.inserted) {
            try keys.append(
                object.permanentKey ?? 0, stored.permanentKey ?? 0, of: object.entityName)
        }
        counts.objectCount += Int64(objects.count)
        counts.linkCount += Int64(sent.items.count - objects.count)
    }

    /// Divides lines into those that can be stored in one set now, and those that have to wait for
    /// an object, directly or through other lines.
    private func divided(_ items: [DumpItem]) -> (ready: [DumpItem], waiting: [DumpItem]) {
        var indexes: [PersistentIdentifier: Int] = [:]
        for (index, item) in items.enumerated() where !item.isLink { indexes[item.object] = index }
        var users: [Int: [Int]] = [:]
        var isBlocked = [Bool](repeating: false, count: items.count)
        var blocked: [Int] = []
        for (index, item) in items.enumerated() {
            for object in item.needed where !isStored(object) {
                if let other = indexes[object] {
                    users[other, default: []].append(index)
                } else if !isBlocked[index] {
                    isBlocked[index] = true
                    blocked.append(index)
                }
            }
        }
        guard !blocked.isEmpty else { return (items, []) }
        while let index = blocked.popLast() {
            for user in users[index] ?? [] where !isBlocked[user] {
                isBlocked[user] = true
                blocked.append(user)
            }
        }
        return (
            items.indices.filter { !isBlocked[$0] }.map { items[$0] },
            items.indices.filter { isBlocked[$0] }.map { items[$0] }
        )
    }

    private func isStored(_ object: PersistentIdentifier) -> Bool {
        keys.key(for: object.permanentKey ?? 0, of: object.entityName) != nil
    }

    private func missing(for item: DumpItem) -> LarderError {
        let stored = Set(waiting.filter { !$0.isLink }.map(\.object))
        let first = waiting.lazy.flatMap { waiter in waiter.needed.map { (waiter, $0) } }
            .first { !isStored($0.1) && !stored.contains($0.1) }
        let (line, object) = (first?.0.line ?? item.line, first?.1 ?? item.object)
        return LarderError(
            .objectNotFound, "\(object.shortText) is not in the dump",
            hint: "the dump is damaged, or was edited; make it again: larder dump"
        ).at(line: line, of: reader.fileName)
    }

    // MARK: Changes

    /// The changes of lines. A set cannot update an object that it inserts, so that the links of
    /// such an object are part of its insert.
    private func changes(_ items: [DumpItem]) -> [Change] {
        var inserts: [PersistentIdentifier: Int] = [:]
        var changes: [PlannedChange] = []
        for item in items {
            if item.isLink, let index = inserts[item.object] {
                add(item, to: &changes[index])
                continue
            }
            if !item.isLink { inserts[item.object] = changes.count }
            var change = PlannedChange(line: item, values: item.attributes)
            add(item, to: &change)
            changes.append(change)
        }
        return changes.map { change in
            let identifier = identifier(change.line.object)
            return change.line.isLink
                ? .update(identifier, ifVersion: nil, values: change.values, edits: change.edits)
                : .insert(identifier, values: change.values, edits: change.edits)
        }
    }

    private struct PlannedChange {
        let line: DumpItem
        var values: [String: Value]
        var edits: [RelationshipEdit] = []
    }

    private func add(_ item: DumpItem, to change: inout PlannedChange) {
        for reference in item.references {
            let objects = reference.objects.map(identifier)
            if !reference.isToMany {
                change.values[reference.name] = objects.first.map { .object($0) } ?? .null
            } else if item.isLink || options.updatesExisting {
                // The whole list would remove the objects that an existing object has in its own.
                change.edits.append(.add(objects, to: reference.name))
                if hasToMove(reference.name, of: item.object.entityName) {
                    change.edits.append(.move(objects, in: reference.name, to: .last))
                }
            } else {
                change.values[reference.name] = .objects(objects)
            }
        }
    }

    /// The identifier of an object in the store, or in the set that is being made.
    private func identifier(_ object: PersistentIdentifier) -> PersistentIdentifier {
        let name = object.entityName
        return keys.key(for: object.permanentKey ?? 0, of: name)
            .map { PersistentIdentifier(store: store, entityName: name, key: $0) }
            ?? PersistentIdentifier(temporary: object.shortText, entityName: name)
    }

    /// Whether objects may already be in an ordered list in another order than in the dump.
    private func hasToMove(_ name: String, of entityName: String) -> Bool {
        guard let entity = schema.entity(named: entityName),
            case .relationship(let relationship)? = entity.property(named: name),
            relationship.isOrdered
        else { return false }
        return options.updatesExisting || links.hasOtherSide(relationship, of: entity)
    }
}
