import LarderModel
import LarderQuery
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("A store file whose tables another program has changed")
struct SchemaTableTests {
    private let folder: MemoryFolder
    private let path: String

    init() throws {
        folder = try MemoryFolder()
        path = folder.storePath
        let schema = try Schema(entities: [
            Entity(name: "Note", attributes: [Attribute(name: "text", type: .string)])
        ])
        _ = try Store.open(path: path, schema: schema)
    }

    private static let endless: SQL =
        "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, x FROM c"

    private static let changes: [(change: SQL, problem: String)] = [
        ("CREATE VIEW v AS SELECT 1", "view v is not part of a store"),
        (
            "CREATE TRIGGER t AFTER INSERT ON Note BEGIN SELECT 1; END",
            "trigger t is not part of a store"
        ),
        (
            "DROP TABLE _larder; CREATE VIEW _larder (name, value) AS \(endless)",
            "view _larder is not part of a store"
        ),
        (
            "DROP TABLE _larder; CREATE TABLE _larder (name, value)",
            "table _larder is missing or is not the one of a store"
        ),
        ("CREATE TABLE extra (a)", "table extra is not part of this store"),
        ("CREATE VIRTUAL TABLE f USING fts5 (a)", "table f is not part of this store"),
        ("CREATE INDEX extra ON Note (text)", "index extra is not part of this store"),
        (
            "CREATE INDEX extra ON Note (_id) WHERE upper(text) = 'A'",
            "index extra is not part of this store"
        ),
        (
            "ALTER TABLE Note ADD COLUMN c GENERATED ALWAYS AS (_id * 2)",
            "table Note is not part of this store"
        ),
        (
            "ALTER TABLE Note ADD COLUMN c INTEGER CHECK (c > 0) DEFAULT (abs(1))",
            "table Note is not part of this store"
        ),
        ("DROP TABLE _preserved", "it lacks what this creates: CREATE TABLE _preserved "),
    ]

    @Test(
        "a store file whose tables another program has changed is refused with what was found",
        arguments: changes)
    func refused(change: SQL, problem: String) throws {
        try Connection(path: path, createIfMissing: false).execute(change)
        let error = try #require(
            #expect(throws: LarderError.self) { try Store.open(path: path, schema: nil) })
        #expect(error.code == .storageFailed)
        #expect(error.message == "\(path) is damaged (another program has changed its tables)")
        #expect(error.problems.contains { $0.hasPrefix(problem) }, "\(error.problems)")
    }

    @Test("a store file in which another program only collected statistics is opened")
    func analyzed() throws {
        try Connection(path: path, createIfMissing: false).execute(
            "INSERT INTO Note (_version, text) VALUES (1, 'x'); ANALYZE")
        _ = try Store.open(path: path, schema: nil)
    }

    @Test("a store file's tables are not read after the time for the opening has passed")
    func budget() throws {
        let connection = try Connection(path: path, createIfMissing: false)
        for number in 0..<1_000 { try connection.execute("CREATE TABLE \(name: "t\(number)") (a)") }
        connection.setBudget(ReadBudget(deadline: .now))
        let error = #expect(throws: SQLError.self) { try SchemaTable(reading: connection) }
        #expect(error?.condition == .interrupted)
    }

    @Test("a stored text that is not UTF-8 is an error, also if two rows together are UTF-8")
    func invalidText() throws {
        try Connection(path: path, createIfMissing: false).execute(
            """
            INSERT INTO Note (_version, text) VALUES (1, CAST(x'61c3' AS TEXT)),
            (1, CAST(x'a962' AS TEXT)), (1, CAST(x'61c3a962' AS TEXT)), (1, NULL)
            """)
        let store = try Store.open(path: path, schema: nil)
        let reader = try store.makeReader()
        func read(_ keys: Int64...) throws(ReadFailure) -> [Batch] {
            let identifiers = keys.map {
                PersistentIdentifier(
                    store: store.storeDescription.identifier, entityName: "Note", key: $0)
            }
            return try reader.objects(identifiers, properties: nil, budget: ReadBudget())
        }
        for keys in [[1, 2], [1, 1], [2, 2]] as [[Int64]] {
            do throws(ReadFailure) {
                _ = try read(keys[0], keys[1])
                Issue.record("a damaged text was read")
            } catch {
                guard case .failed(let failure) = error else { throw error }
                #expect(failure.code == .storageFailed)
                #expect(failure.message.contains("a text of `text` is not UTF-8"))
            }
        }
        #expect(try read(3, 4)[0].rowCount == 2)
    }
}
