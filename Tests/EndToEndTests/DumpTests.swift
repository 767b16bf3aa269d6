import FoundationEssentials
import LarderClient
import QueryFuzzing
import TestSupport
import Testing

@Suite("A dump contains a whole store")
struct DumpTests {
    @Test("random stores are equal after dump and load, and so are their dumps")
    func roundTrip() throws {
        var random = SeededGenerator.fromEnvironment("dumps")
        for _ in 0..<RandomTesting.iterations(1) {
            let content = try RandomContent(&random)
            let first = try TestDaemon(schema: content.schema.fileText)
            let original = try first.connect()
            let inserted = try original.save(content.changes).inserted
            // Gaps in the keys, and lists that were changed.
            for object in inserted where Int.random(in: 0..<6, using: &random) == 0 {
                try original.delete(object)
            }
            let dump = "\(first.folder)/a.dump"
            try expectSuccess(first.run("larder", ["dump", dump, "--socket", first.socket]))
            for options in [[], ["--atomic"]] {
                let second = try TestDaemon(starts: false, schema: content.schema.fileText)
                try expectSuccess(
                    second.run("larder", ["load", dump, "--store", second.store] + options))
                try second.start()
                let copy = try second.connect()
                try StoreComparison(original, copy, content.schema).check()
                #expect(try copy.check().findings.isEmpty)
                try checkDumps(of: second, schema: content.schema)
            }
        }
    }

    /// A store that was loaded has its objects in the order of the dump, so that its dump is that
    /// of any copy of it, except for the first line and the checksum.
    private func checkDumps(of daemon: TestDaemon, schema: Schema) throws {
        let dump = "\(daemon.folder)/b.dump"
        try expectSuccess(daemon.run("larder", ["dump", dump, "--socket", daemon.socket]))
        let third = try TestDaemon(starts: false, schema: schema.fileText)
        try expectSuccess(third.run("larder", ["load", dump, "--store", third.store]))
        let again = try third.run("larder", ["dump", "--store", third.store])
        try expectSuccess(again)
        let text = try String(contentsOfFile: dump, encoding: .utf8)
        #expect(lines(of: again.output) == lines(of: text))
    }

    private func lines(of dump: String) -> [Substring] {
        Array(dump.split(separator: "\n").dropFirst().dropLast())
    }

    @Test("a dump that was damaged anywhere is refused, and no store is created")
    func damage() throws {
        var random = SeededGenerator.fromEnvironment("damaged dumps")
        let content = try RandomContent(&random)
        let daemon = try TestDaemon(schema: content.schema.fileText)
        _ = try daemon.connect().save(content.changes)
        let dump = try daemon.run("larder", ["dump", "--socket", daemon.socket])
        try expectSuccess(dump)
        let bytes = Array(dump.output.utf8)
        let (path, store) = ("\(daemon.folder)/damaged.dump", "\(daemon.folder)/new.store")
        for number in 0..<RandomTesting.iterations(5) {
            let damaged =
                number % 3 == 0
                ? Array(bytes.prefix(Int.random(in: 0..<bytes.count - 1, using: &random)))
                : Fuzzing.mutated(bytes, donor: bytes, using: &random)
            // Blank lines at the end and a line ending CR LF are no damage.
            let content = bytes.dropLast()
            guard damaged.prefix(content.count) != content else { continue }
            try Data(damaged).write(to: URL(filePath: path))
            let result = try daemon.run("larder", ["load", path, "--store", store])
            #expect([4, 5, 65].contains(result.status), "\(result.errors)")
            #expect(result.errors.hasPrefix("error["), "\(result.errors)")
            #expect(!FileManager.default.fileExists(atPath: store))
        }
    }

    private func expectSuccess(
        _ result: ProcessResult, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try #require(result.status == 0, "\(result.errors)", sourceLocation: sourceLocation)
    }
}

/// Compares all values and links of two stores, whose objects have other identifiers but the same
/// order within each entity.
private struct StoreComparison {
    private let original: StoreClient
    private let copy: StoreClient
    private let schema: Schema
    private var copies: [PersistentIdentifier: PersistentIdentifier] = [:]

    init(_ original: StoreClient, _ copy: StoreClient, _ schema: Schema) throws {
        self.original = original
        self.copy = copy
        self.schema = schema
        for entity in schema.entities where !entity.isAbstract {
            let (left, right) = (
                try Self.identifiers(of: entity, in: original),
                try Self.identifiers(of: entity, in: copy)
            )
            try #require(left.count == right.count, "\(entity.name)")
            for (left, right) in zip(left, right) { copies[left] = right }
        }
    }

    private static func identifiers(
        of entity: Entity, in client: StoreClient
    ) throws -> [PersistentIdentifier] {
        try client.fetch(entity.name, includesSubentities: false).map(\.identifier)
    }

    func check() throws {
        for (left, right) in copies {
            let (old, new) = (
                try #require(try original.object(for: left)),
                try #require(try copy.object(for: right))
            )
            let expected = old.values.mapValues(mapped)
            for (name, value) in expected {
                #expect(
                    comparable(new.values[name] ?? .null, name, left.entityName)
                        == comparable(value, name, left.entityName),
                    "\(left.shortText).\(name)")
            }
            #expect(Set(old.values.keys) == Set(new.values.keys))
        }
    }

    private func mapped(_ value: Value) -> Value {
        switch value {
        case .object(let object): copies[object].map { .object($0) } ?? .null
        case .objects(let list): .objects(list.compactMap { copies[$0] })
        default: value
        }
    }

    private func comparable(_ value: Value, _ name: String, _ entityName: String) -> Value {
        guard case .objects(let list) = value,
            case .relationship(let relationship)? = schema.entity(named: entityName)?
                .property(named: name), !relationship.isOrdered
        else { return value }
        return .objects(list.sorted())
    }
}
