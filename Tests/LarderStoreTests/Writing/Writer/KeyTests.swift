import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("reserved keys")
struct KeyTests {
    private let folder: MemoryFolder

    init() throws { folder = try MemoryFolder() }

    /// Opens the store, inserts some objects, and closes the writer or not.
    private func insert(_ count: Int, closing: Bool) throws -> [Int64] {
        let store = try Store.open(path: folder.storePath, schema: Library.schema())
        let writer = try #require(try store.makeWriter() as? Writer)
        let keys = try (0..<count).map { _ in
            let set = ChangeSet([.insert(.new("t", "Tag"), values: [:])])
            let result = try writer.save([set])[0].get()
            return try #require(result.inserted.first?.permanentKey)
        }
        let report = try store.makeReader().check(budget: ReadBudget())
        #expect(report.findings.isEmpty)
        if closing { writer.close() }
        return keys
    }

    @Test("a writer that was closed leaves no gap in the keys")
    func closed() throws {
        #expect(try insert(3, closing: true) == [1, 2, 3])
        #expect(try insert(150, closing: true) == Array(4...153))
        #expect(try insert(2, closing: true) == [154, 155])
    }

    @Test("a writer that was not closed leaves a gap in the keys, and none is used twice")
    func killed() throws {
        let first = try insert(120, closing: false)
        #expect(first == Array(1...120))
        let second = try insert(3, closing: false)
        let (start, end) = (try #require(second.first), try #require(second.last))
        #expect(start > 120 && start <= 221 && end == start + 2)
        #expect(try insert(1, closing: true)[0] > end)
    }

    @Test("a key is not reused when a set fails, nor when its object is deleted")
    func deleted() throws {
        let library = try Library()
        let tag = try library.insert("Tag")
        _ = try library.refusal(
            .insert(.new("a", "Tag"), values: [:]), .insert(.new("b", "Nothing"), values: [:]))
        try library.saved(.delete(tag, ifVersion: nil))
        #expect(try library.insert("Tag").permanentKey == 2)
    }

    @Test("a commit of one object writes two pages of the log")
    func pages() throws {
        let library = try Library()
        try library.insert("Tag")
        let connection = try #require(library.writer.statements?.connection)
        for _ in 0..<50 {
            let before = connection.logPageCount
            try library.insert("Tag")
            #expect(connection.logPageCount == before + 2)
        }
    }
}
