import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("The record of migrations")
struct MigrationRecordTests {
    private func schema(_ number: Int) throws -> Schema {
        try Schema(
            version: "1.0.\(number)",
            entities: [Entity(name: "Book", attributes: [Attribute(name: "title", type: .string)])])
    }

    private func record(
        _ record: MigrationRecord, from old: Int, to new: Int
    ) throws -> MigrationRecord {
        let mapping = try SchemaMapping(
            from: schema(old), to: schema(new), permitsEarlierVersion: true)
        return record.after(mapping, lastKeys: [:])
    }

    @Test("a record knows the last 1,000 schemas of a store, and forgets one more")
    func bound() throws {
        var migrated = MigrationRecord()
        for number in 0...1_000 { migrated = try record(migrated, from: number, to: number + 1) }
        #expect(migrated.pastFingerprints.count == 1_000)
        #expect(try !migrated.pastFingerprints.contains(schema(0).fingerprint))
        #expect(try migrated.isPast(schema(1)))
        #expect(try migrated.isPast(schema(1_000)))
        #expect(try !migrated.isPast(schema(1_001)))
    }

    @Test("a schema to which a store is migrated again is not a former one")
    func backAgain() throws {
        let there = try record(MigrationRecord(), from: 1, to: 2)
        let back = try record(there, from: 2, to: 1)
        #expect(try there.isPast(schema(1)) && !there.isPast(schema(2)))
        #expect(try back.isPast(schema(2)) && !back.isPast(schema(1)))
    }

    @Test("a record is read from its text, also from one without fingerprints")
    func text() throws {
        let migrated = try record(MigrationRecord(), from: 1, to: 2)
        #expect(MigrationRecord(migrated.text) == migrated)
        // A program that did not record fingerprints has written the schemas that were added to.
        let members = try #require(try? JSONValue(parsing: migrated.text))
        guard case .object(var object) = members else {
            Issue.record("the text is not an object")
            return
        }
        object["pastFingerprints"] = nil
        let former = try #require(MigrationRecord(JSONValue.object(object).text))
        #expect(former.pastFingerprints == [])
        #expect(try former.isPast(schema(1)))
        object["pastFingerprints"] = .array([.integer(1), .string("a"), .null])
        #expect(MigrationRecord(JSONValue.object(object).text)?.pastFingerprints == ["a"])
        object["pastFingerprints"] = .string("a")
        #expect(MigrationRecord(JSONValue.object(object).text)?.pastFingerprints == [])
    }
}
