import FoundationEssentials
import LarderModel
import LarderQuery
import LarderStore
import TestSupport

/// Damage to the file of a small store, as a list of changes: the number of a page, an offset in
/// the page in two bytes, the number of new bytes, and these bytes. The number after that of the
/// last page cuts the file at this offset instead. The identifier of the store and the number of
/// its file differ between runs.
///
/// The store must open or be rejected; then all that it contains is checked and read, and objects
/// are inserted, changed and deleted. Only errors of the model may occur. If the check finds
/// nothing, no read fails.
public final class StoreInput: FuzzedInput {
    public static let name = "stores"
    private static let pageBytes = 4_096
    private static let rowsMax = 10_000

    private let folder: String
    private let original: [UInt8]

    private var path: String { "\(folder)/store" }

    public init() throws {
        let parent = FileManager.default.temporaryDirectory.path
        folder = "\(parent)/larder-fuzz-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let path = "\(folder)/store"
        try StoreSample.create(at: path)
        original = [UInt8](try Data(contentsOf: URL(filePath: path)))
        try removeFiles()
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func removeFiles() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
    }

    public func fault(of bytes: [UInt8]) -> String? {
        do {
            try Data(Self.damaged(original, by: bytes)).write(to: URL(filePath: path))
            defer { try? removeFiles() }
            return try use()
        } catch is LarderError {
            return nil
        } catch ReadFailure.failed {
            return nil
        } catch {
            return "\(error)"
        }
    }

    private static func damaged(_ file: [UInt8], by changes: [UInt8]) -> [UInt8] {
        var file = file
        var rest = changes[...]
        while rest.count >= 4 {
            let head = rest.prefix(4).map { Int($0) }
            let page = head[0] % (file.count / pageBytes + 1)
            let offset = head[1] << 8 | head[2]
            let new = rest.dropFirst(4).prefix(head[3])
            rest = rest.dropFirst(4 + head[3])
            if page == file.count / pageBytes {
                file.removeLast(file.count - min(offset, file.count))
            } else {
                let start = page * pageBytes + offset % pageBytes
                let end = min(start + new.count, file.count)
                file.replaceSubrange(start..<end, with: new.prefix(end - start))
            }
        }
        return file
    }

    // MARK: Using the store

    /// A damaged file may contain endless lists of pages.
    private static func budget() -> ReadBudget { ReadBudget(deadline: .now + .seconds(2)) }

    private func use() throws -> String? {
        let store = try Store.open(
            path: path, schema: nil, options: StoreOptions(synchronous: .normal))
        let reader = try store.makeReader()
        // A store that the check rejects may be unreadable; any other must be read.
        let isSound = (try? reader.check(budget: Self.budget()).findings.isEmpty) ?? false
        var fault: String?
        var identifiers: [PersistentIdentifier] = []
        for entity in store.storeDescription.schema.entities {
            do {
                identifiers += try objects(of: entity, store, reader)
            } catch {
                if isSound { fault = "the check finds nothing in \(entity.name): \(error)" }
            }
        }
        _ = try? reader.objects(identifiers, properties: nil, budget: Self.budget())
        _ = try? reader.statistics()
        let writer = try store.makeWriter()
        defer { writer.close() }
        _ = writer.save(StoreSample.changes(of: identifiers, store.storeDescription.schema))
        writer.performMaintenance()
        return fault
    }

    private func objects(
        of entity: Entity, _ store: Store, _ reader: any StoreReader
    ) throws -> [PersistentIdentifier] {
        let fetch = Fetch(
            entity.name, sort: entity.attributes.prefix(2).map { SortKey($0.name) },
            prefetch: entity.relationships.map(\.name), includesSubentities: false)
        let plan = try store.plan(.fetch(fetch), QueryParameters())
        let budget = Self.budget()
        let cursor = try reader.open(plan, QueryParameters(), budget: budget)
        defer { cursor.close() }
        var keys: [Int64] = []
        while keys.count < Self.rowsMax {
            let (batch, isLast) = try cursor.next(bytesMax: 1 << 16, budget: budget)
            try batch.check()
            _ = batch.rows(store: store.storeDescription.identifier)
            if batch.prefetchPath == nil { keys += batch.identity?.keys ?? [] }
            if isLast { break }
        }
        let identifier = store.storeDescription.identifier
        return keys.map {
            PersistentIdentifier(store: identifier, entityName: entity.name, key: $0)
        }
    }
}
