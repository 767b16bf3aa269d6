#if PostgreSQL
import Foundation
import LarderModel
import LarderQuery
import QueryScripts
import Testing

@testable import LarderPostgres
@testable import LarderSQL
@testable import LarderStore

/// A store in each database, with one identifier and one clock, to which the same sets are saved.
final class PairedStores {
    typealias Outcome = Result<SaveResult, LarderError>

    let sqlite: Store
    let postgres: PostgresLibrary
    private let writer: any StoreWriter
    private let connection: Connection

    init(_ schema: Schema) throws {
        postgres = try PostgresLibrary(schema)
        var options = StoreOptions()
        options.newIdentifier = postgres.store.storeDescription.identifier
        options.clock = StoreInPostgres.clock
        sqlite = try Store.inMemory(schema: schema, options: options)
        writer = try sqlite.makeWriter()
        connection = try sqlite.openReadConnection()
    }

    deinit {
        writer.close()
        postgres.storeWriter.close()
    }

    /// Saves a group of sets in both.
    func save(_ sets: [SaveRequest]) -> (sqlite: [Outcome], postgres: [Outcome]) {
        (writer.save(sets), postgres.storeWriter.save(sets))
    }

    func save(_ sets: ChangeSet...) -> (sqlite: [Outcome], postgres: [Outcome]) {
        save(sets.map { SaveRequest($0) })
    }

    /// The rows of the stores' tables.
    func contents() throws -> (sqlite: StoreContents.Rows, postgres: StoreContents.Rows) {
        let layout = sqlite.layout
        let first = try StoreContents.rows(of: layout) { sql in
            let statement = try connection.prepare(sql)
            var rows: [[SQLValue]] = []
            while try statement.step() {
                rows.append((0..<statement.columnCount).map { statement.value(at: $0) })
            }
            return rows
        }
        return (first, try StoreContents.rows(of: layout) { try postgres.rows($0) })
    }

    /// The keys of all objects, by their own entity.
    func keys() throws -> [String: [Int64]] {
        let layout = sqlite.layout
        var keys: [String: [Int64]] = [:]
        for root in layout.roots {
            let name: SQL =
                layout.kinds(inTableOf: root) == nil
                ? "\(literal: root.name)" : "\(name: Layout.entityColumn)"
            let statement = try connection.prepare(
                "SELECT \(name), _id FROM \(name: root.name) ORDER BY _id")
            while try statement.step() {
                keys[statement.string(at: 0), default: []].append(statement.int64(at: 1))
            }
        }
        return keys
    }

    /// The differences between the tables, as text.
    func differences() throws -> [String] {
        let (first, second) = try contents()
        return first.keys.sorted().compactMap { table in
            let (sqlite, postgres) = (first[table] ?? [], second[table] ?? [])
            guard sqlite != postgres else { return nil }
            let lines = zip(sqlite, postgres).filter { $0 != $1 }.prefix(3)
                .map { "\($0)\n    \($1)" }
            return "\(table): \(sqlite.count) \(postgres.count)\n    "
                + lines.joined(separator: "\n    ")
        }
    }
}
#endif
