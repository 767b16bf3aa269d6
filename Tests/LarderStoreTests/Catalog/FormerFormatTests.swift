import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("A store file of the format before")
struct FormerFormatTests {
    @Test("a store file of format 6 can be read as a whole, and is upgraded when it is written to")
    func readableFormer() throws {
        let folder = try MemoryFolder()
        let path = folder.storePath
        let schema = try Schema(entities: [
            Entity(name: "Note", attributes: [Attribute(name: "text", type: .string)])
        ])
        _ = try Store.open(path: path, schema: schema)
        try Connection(path: path, createIfMissing: false).execute(
            """
            INSERT INTO Note (_version, text) VALUES (1, 'old');
            INSERT INTO _transaction VALUES (1, 5.0, NULL, NULL, NULL, NULL, 1, 'Note', 1, 1, NULL);
            PRAGMA user_version = 6
            """)
        try withExtendedLifetime(
            Store.open(path: path, schema: nil, options: StoreOptions(isReadOnly: true))
        ) { store in
            let reader = try store.makeReader()
            let page = try reader.history(
                HistoryPageRequest(.all, bytesMax: 1_000), budget: ReadBudget())
            #expect(page.transactions.map(\.id) == [1])
            #expect(try reader.check(budget: ReadBudget()).findings == [])
        }
        let store = try Store.open(path: path, schema: nil)
        let statistics = try store.makeReader().statistics()
        #expect(statistics.first { $0.name == "formatVersion" }?.value == 7)
    }
}
