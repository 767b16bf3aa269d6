import FoundationEssentials
import Glibc
import LarderModel
import Testing

@testable import LarderServer

@Suite("Owner files")
struct OwnerFileTests {
    private let folder: Folder
    private var store: String { "\(folder.path)/test.store" }
    private var path: String { OwnerFile.path(of: store) }

    init() throws { folder = try Folder() }

    private func refusal(_ path: String) -> LarderError? {
        do throws(LarderError) {
            _ = try OwnerFile(claiming: path)
            return nil
        } catch {
            return error
        }
    }

    @Test("a file is claimed once, says who has it, and is gone after its owner")
    func claim() throws {
        do {
            let owner = try OwnerFile(claiming: store)
            #expect(try folder.mode(of: "test.store.owner") == 0o600)
            #expect(OwnerFile.Record(ofStoreAt: store) == nil)
            owner.announce(socket: "/run/missing.sock", store: UUID())
            let record = try #require(OwnerFile.Record(ofStoreAt: store))
            #expect(record.processIdentifier == getpid())
            let error = refusal(store)
            #expect(error?.code == .storeInUse)
            #expect(error?.message.contains("(process \(getpid()))") == true)
        }
        #expect(!folder.contains("test.store.owner"))
    }

    @Test("a read lock, which any reader of the file can take, is not that of an owner")
    func readLock() throws {
        close(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644))
        let reader = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(reader) }
        var lock = flock()
        lock.l_type = Int16(F_RDLCK)
        // F_OFD_SETLK
        #expect(withUnsafeMutablePointer(to: &lock) { fcntl(reader, 37, $0) } == 0)
        #expect(flock(reader, LOCK_EX | LOCK_NB) == 0)
        let owner = try OwnerFile(claiming: store)
        #expect(try folder.mode(of: "test.store.owner") == 0o600)
        #expect(refusal(store)?.code == .storeInUse)
        owner.release()
    }

    @Test("the lock stays when the process closes another descriptor of the file")
    func otherDescriptor() throws {
        let owner = try OwnerFile(claiming: store)
        close(open(path, O_RDWR | O_CLOEXEC))
        #expect(OwnerFile.Record(ofStoreAt: store) == nil)
        #expect(refusal(store)?.code == .storeInUse)
        owner.release()
        #expect(refusal(store) == nil)
    }

    @Test("another type of file is refused by its name, also by those who need no owner file")
    func otherTypes() throws {
        let makers: [(String, (String) -> Int32)] = [
            ("a named pipe", { mkfifo($0, 0o600) }), ("a folder", { mkdir($0, 0o700) }),
            ("a symbolic link", { symlink("/etc/passwd", $0) }),
        ]
        for (text, make) in makers {
            #expect(make(path) == 0)
            #expect(OwnerFile.Record(ofStoreAt: store) == nil)
            #expect(refusal(store)?.code == .storageFailed)
            #expect(refusal(store)?.message.hasPrefix("\(path) is \(text), and ") == true)
            #expect(throws: LarderError.self) { try OwnerFile.claimIfPossible(store) }
            #expect(remove(path) == 0)
        }
        #expect(try OwnerFile.claimIfPossible(store) != nil)
    }
}
