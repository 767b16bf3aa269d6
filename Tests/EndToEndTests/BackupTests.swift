import FoundationEssentials
import Glibc
import LarderClient
import Testing

@Suite("Backups of a served store")
struct BackupTests {
    private let daemon: TestDaemon
    private let client: StoreClient

    init() throws {
        daemon = try TestDaemon()
        client = try daemon.connect()
        for number in 0..<10 { try insert(number) }
    }

    private func insert(_ number: Int) throws {
        _ = try client.insert("Student", ["name": "Ann", "birthOfYear": .int(Int64(number))])
    }

    private func path(_ name: String) -> String { "\(daemon.folder)/\(name)" }

    private func code(_ body: () throws -> Void) -> ErrorCode? {
        do { try body() } catch { return (error as? LarderError)?.code }
        return nil
    }

    @Test("a backup contains the state of one moment, and can be served")
    func served() async throws {
        let path = path("backup")
        let backup = try await client.backup(to: path)
        #expect(backup.path == path)
        #expect(backup.position == client.server.token(after: 10))
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        #expect(size.map(Int64.init) == backup.byteCount)
        try insert(10)
        let asynchronous = try await client.backup(to: self.path("second"))
        #expect(asynchronous.position == client.server.token(after: 11))
        let other = try TestDaemon(starts: false)
        try FileManager.default.copyItem(atPath: path, toPath: other.store)
        try other.start()
        let served = try other.connect()
        #expect(try await served.count("Student") == 10)
        #expect(try await served.check().findings.isEmpty)
    }

    @Test("a restored backup accepts the tokens of its own transactions only")
    func restored() throws {
        _ = try client.backup(to: path("backup"))
        try insert(10)
        let other = try TestDaemon(starts: false)
        let result = try daemon.run("larder", ["restore", path("backup"), "--to", other.store])
        #expect(result.status == 0, "\(result.errors)")
        try other.start()
        let restored = try other.connect()
        #expect(restored.server.storeIdentifier == client.server.storeIdentifier)
        #expect(restored.server.historyEpoch > client.server.historyEpoch)
        _ = try restored.insert("Student", ["name": "Bob", "birthOfYear": 1])
        func history(after number: Int64) throws -> [Int64] {
            let fetch = HistoryFetch(after: client.server.token(after: number))
            return try restored.history(fetch).transactions.map(\.token.number)
        }
        #expect(try history(after: 9) == [10, 11])
        #expect(try history(after: 10) == [11])
        #expect(code { _ = try history(after: 11) } == .tokenExpired)
        let later = HistoryFetch(after: restored.server.token(after: 1))
        #expect(code { _ = try client.history(later) } == .futureToken)
    }

    @Test("a backup never replaces a file, and leaves nothing after an error")
    func existing() throws {
        let path = path("backup")
        _ = try client.backup(to: path)
        let before = try Data(contentsOf: URL(filePath: path))
        let files = try FileManager.default.contentsOfDirectory(atPath: daemon.folder).sorted()
        #expect(code { _ = try client.backup(to: path) } == .fileExists)
        #expect(code { _ = try client.backup(to: self.path("none/backup")) } == .storageFailed)
        #expect(code { _ = try client.backup(to: daemon.folder) } == .fileExists)
        #expect(code { _ = try client.backup(to: "") } == .storageFailed)
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: daemon.folder).sorted() == files)
    }

    @Test("a backup of a snapshot is refused")
    func snapshot() throws {
        try client.snapshot { snapshot in
            #expect(code { _ = try snapshot.backup(to: path("backup")) } == .unsupported)
        }
    }

    @Test("a backup that its task cancels leaves no file, and the client can be used")
    func cancellation() async throws {
        let path = path("backup")
        let task = Task { [client] in try await client.backup(to: path) }
        task.cancel()
        // The backup may have been completed before.
        if case .failure(let error) = await task.result {
            #expect((error as? LarderError)?.code == .cancelled)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
        try insert(10)
    }

    @Test("a backup of a closed client fails and leaves no file")
    func closed() throws {
        let other = try daemon.connect()
        other.close()
        #expect(code { _ = try other.backup(to: path("backup")) } == .connectionFailed)
        #expect(!FileManager.default.fileExists(atPath: path("backup")))
    }
}
