import CSQLite
import Dispatch
import FoundationEssentials
import Glibc
import LarderModel
import Synchronization
import TestSupport
import Testing

@testable import LarderStore

@Suite("Checkpoints in the background")
struct CheckpointerTests {
    private let folder: MemoryFolder
    private let library: Library
    private let checkpointer: Checkpointer

    init() throws {
        folder = try MemoryFolder()
        library = try Library(path: folder.storePath)
        checkpointer = library.writer.log.checkpointer
    }

    private func save(_ name: String) throws {
        try library.insert("Category", ["name": .string(name)])
    }

    /// A name of about a mebibyte, which takes 260 pages of the log.
    private func longName(_ number: Int) -> String {
        "\(number)" + String(repeating: "x", count: 1 << 20)
    }

    private func connection() throws -> Connection {
        try #require(library.writer.statements?.connection)
    }

    /// The probe that shows the defect: SQLite before 3.51.3 loses a commit with which the log
    /// starts from its beginning just when a checkpoint of another connection has begun.
    @Test("without the order of the checkpointer, SQLite would lose commits")
    func defect() throws {
        let other = try library.store.openCheckpointConnection()
        for name in ["a", "b", "c", "d"] { try save(name) }
        // Everything is in the file, so the next commit starts the log from its beginning.
        try connection().checkpoint(.passive)
        let probe = try LockProbe(other, .headerRead) { number in
            do { if number == 1 { try save("e") } } catch { return SQLITE_ERROR }
            return SQLITE_OK
        }
        try other.checkpoint(.passive)
        #expect(probe.attemptCount >= 1)
        // The other connection believes that it has copied the first pages of this commit.
        try save("f")
        let isMended = sqlite3_libversion_number() >= 3_051_003
        #expect(try library.count("Category") == (isMended ? 6 : 5))
    }

    @Test("commits during a checkpoint are not lost, and are not copied by it")
    func commits() throws {
        try checkpointer.open(library.store)
        for number in 0..<4 { try save(longName(number)) }
        let (begun, mayContinue) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let copying = try #require(checkpointer.copying)
        let probe = try LockProbe(copying, .headerRead) { number in
            if number == 1 {
                begun.signal()
                mayContinue.wait()
            }
            return SQLITE_OK
        }
        let length = try connection().logPageCount
        #expect(library.writer.needsMaintenance)
        library.writer.performMaintenance()
        begun.wait()
        #expect(checkpointer.isRunning)
        for number in 4..<8 { try save(longName(number)) }
        // It is due, but one is running.
        #expect(!library.writer.needsMaintenance)
        mayContinue.signal()
        checkpointer.wait()
        #expect(probe.attemptCount >= 1)
        #expect(try connection().copiedPageCount() == length)
        #expect(try connection().logPageCount > length)
        #expect(try library.count("Category") == 8)
        library.writer.performMaintenance()
        checkpointer.wait()
        #expect(try connection().copiedPageCount() == connection().logPageCount)
        try save("last")
        #expect(try connection().logPageCount < 100)
        library.writer.close()
        #expect(try library.count("Category") == 9)
    }

    @Test("no checkpoint begins while all pages of the log are in the file")
    func nothingToCopy() throws {
        for number in 0..<4 { try save(longName(number)) }
        try connection().checkpoint(.passive)
        library.writer.performMaintenance()
        #expect(!checkpointer.isRunning && !checkpointer.hasOutcome)
        #expect(checkpointer.copying == nil)
        try save("a")
        #expect(try library.count("Category") == 5)
    }

    @Test("a checkpoint copies what readers of earlier commits allow, and the next one the rest")
    func readers() throws {
        try save("a")
        try library.readConnection.execute("BEGIN")
        #expect(try library.count("Category") == 1)
        let held = try connection().logPageCount
        for number in 0..<5 { try save(longName(number)) }
        library.writer.performMaintenance()
        checkpointer.wait()
        #expect(try connection().copiedPageCount() == held)
        #expect(try library.count("Category") == 1)
        try library.readConnection.execute("COMMIT")
        for number in 5..<10 { try save(longName(number)) }
        library.writer.performMaintenance()
        checkpointer.wait()
        #expect(try connection().copiedPageCount() == connection().logPageCount)
        #expect(try library.count("Category") == 11)
    }

    @Test("a checkpoint that fails is a failure of the storage, from which the next write recovers")
    func failure() throws {
        try checkpointer.open(library.store)
        for number in 0..<4 { try save(longName(number)) }
        do {
            let copying = try #require(checkpointer.copying)
            let probe = try LockProbe(copying, .exclusive(.checkpoint)) { _ in SQLITE_IOERR }
            library.writer.performMaintenance()
            checkpointer.wait()
            #expect(probe.attemptCount == 1)
        }
        #expect(library.writer.needsMaintenance)
        library.writer.performMaintenance()
        guard case .failed(let error) = library.writer.storage else {
            Issue.record("the writer has not noted the failure")
            return
        }
        #expect(error.condition == .inputOutput)
        #expect(!library.writer.needsMaintenance)
        try save("a")
        for number in 4..<9 { try save(longName(number)) }
        #expect(library.writer.needsMaintenance)
        library.writer.performMaintenance()
        checkpointer.wait()
        #expect(try connection().copiedPageCount() > 1_000)
        #expect(try library.count("Category") == 10)
    }

    // In a process of its own, because other tests need descriptors.
    @Test("without descriptors for the checkpointer the writer copies the pages itself")
    func noDescriptors() async {
        await #expect(processExitsWith: .success) {
            let library = try Library()
            for number in 0..<4 {
                let name = "\(number)" + String(repeating: "x", count: 1 << 20)
                try library.insert("Category", ["name": .string(name)])
            }
            // The next descriptor would be the lowest that is free.
            let next = dup(0)
            Glibc.close(next)
            var none = rlimit(rlim_cur: rlim_t(next), rlim_max: rlim_t(next))
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
            library.writer.performMaintenance()
            #expect(library.writer.log.checkpointer.copying == nil)
            #expect(!library.writer.needsMaintenance)
            let connection = try #require(library.writer.statements?.connection)
            #expect(try connection.copiedPageCount() == connection.logPageCount)
            try library.insert("Category", ["name": "a"])
        }
    }

    @Test("a writer that is closed waits for its checkpoint")
    func close() throws {
        try checkpointer.open(library.store)
        for number in 0..<4 { try save(longName(number)) }
        let copying = try #require(checkpointer.copying)
        let begun = DispatchSemaphore(value: 0)
        let probe = try LockProbe(copying, .headerRead) { _ in
            begun.signal()
            // Long enough for the writer to be closed meanwhile, if it did not wait.
            poll(nil, 0, 50)
            return SQLITE_OK
        }
        library.writer.performMaintenance()
        begun.wait()
        library.writer.close()
        #expect(!checkpointer.isRunning)
        #expect(probe.attemptCount >= 1)
        #expect(try library.count("Category") == 4)
        #expect(library.store.logByteCount == 0)
    }

    @Test("the log of a busy writer stays short, and everything is in the file at the end")
    func busy() throws {
        var generator = SeededGenerator.fromEnvironment("checkpoints")
        let isDone = Mutex(false)
        let failures = Mutex<[String]>([])
        let readers = DispatchGroup()
        for _ in 0..<3 {
            DispatchQueue.global().async(group: readers) { [store = library.store] in
                Self.readInOrder(store, until: isDone, failures)
            }
        }
        var longest = 0
        let count = 1_200
        for number in 0..<count {
            let bytes = Int.random(in: 1...200_000, using: &generator)
            try save("\(number) " + String(repeating: "x", count: bytes))
            if library.writer.needsMaintenance { library.writer.performMaintenance() }
            longest = max(longest, try connection().logPageCount)
        }
        isDone.withLock { $0 = true }
        readers.wait()
        #expect(failures.withLock { $0 } == [])
        // 32 MiB, and what is committed until the last pages are copied.
        #expect(longest < 20_000)
        library.writer.close()
        let copy = try MemoryFolder()
        try Data(contentsOf: URL(filePath: folder.storePath))
            .write(to: URL(filePath: copy.storePath))
        let again = try Store.open(path: copy.storePath, schema: Library.schema())
        let reading = try again.openReadConnection()
        #expect(try reading.integer("SELECT count(*) FROM Category") == Int64(count))
        let check = try reading.prepare("PRAGMA integrity_check")
        #expect(try check.step() && check.string(at: 0) == "ok")
    }

    /// Reads snapshots. Each must have all objects up to its last one, and no fewer than the one
    /// before.
    private static func readInOrder(
        _ store: Store, until isDone: borrowing Mutex<Bool>,
        _ failures: borrowing Mutex<[String]>
    ) {
        var last: Int64 = 0
        do {
            let reader = try store.openReadConnection()
            while !isDone.withLock({ $0 }) {
                try reader.execute("BEGIN")
                let count = try reader.integer("SELECT count(*) FROM Category") ?? -1
                let key = try reader.integer("SELECT ifnull(max(_id), 0) FROM Category") ?? -1
                try reader.execute("COMMIT")
                if count != key || count < last {
                    failures.withLock { $0.append("\(last), \(count), \(key)") }
                }
                last = count
            }
        } catch {
            failures.withLock { $0.append("\(error)") }
        }
    }
}
