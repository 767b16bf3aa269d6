import Glibc
import LarderModel
import Testing

@testable import LarderServer

@Suite("Binding a listening socket")
struct ListeningSocketTests {
    /// The error for a path; nil if it is bound.
    private func refusal(_ path: String) -> LarderError? {
        do throws(LarderError) {
            _ = try ListeningSocket(path: path)
            return nil
        } catch {
            return error
        }
    }

    private func release(_ socket: ListeningSocket) {
        close(socket.descriptor)
        socket.release()
    }

    @Test(
        "a listening socket has exactly the given permissions, whatever the umask",
        arguments: [
            0o600, 0o660, 0o666,
        ] as [UInt32])
    func mode(mode: UInt32) throws {
        let folder = try Folder()
        let socket = try ListeningSocket(path: "\(folder.path)/s", mode: mode)
        #expect(try folder.mode(of: "s") == mode)
        #expect(try folder.mode(of: "s.lock") == 0o600)
        release(socket)
        #expect(!folder.contains("s"))
    }

    @Test("a symbolic link at a socket's path is refused, and the file that it names is unchanged")
    func symbolicLink() throws {
        let folder = try Folder()
        let (path, target) = ("\(folder.path)/s", "\(folder.path)/target")
        close(open(target, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
        #expect(symlink(target, path) == 0)
        #expect(refusal(path)?.message.contains("is not a socket") == true)
        #expect(try folder.mode(of: "target") == 0o600)
        #expect(symlink(target, "\(folder.path)/t.lock") == 0)
        #expect(refusal("\(folder.path)/t")?.code == .connectionFailed)
        #expect(!folder.contains("t"))
    }

    @Test("a socket in a missing folder is an error, and the folder can be created for its owner")
    func directory() throws {
        let folder = try Folder()
        let path = "\(folder.path)/new/s"
        #expect(
            refusal(path)?.message == "the folder of the socket \(path) does not exist")
        #expect(!folder.contains("new"))
        try ListeningSocket.makeFolder(of: path)
        release(try ListeningSocket(path: path))
        #expect(try folder.mode(of: "new") == 0o700)
        #expect(throws: LarderError.self) {
            try ListeningSocket.makeFolder(of: "\(folder.path)/a/b/s")
        }
    }

    @Test("a listening socket in use is refused with its path, also if its file was removed")
    func inUse() throws {
        let folder = try Folder()
        let path = "\(folder.path)/s"
        let first = try ListeningSocket(path: path)
        let error = try #require(refusal(path))
        #expect(error.code == .connectionFailed && error.message.contains(path))
        unlink(path)
        #expect(refusal(path)?.message.contains("in use") == true)
        release(first)
        release(try ListeningSocket(path: path))
    }

    @Test("a socket at which another program listens is in use")
    func foreign() throws {
        let folder = try Folder()
        let path = "\(folder.path)/s"
        let descriptor = try UnixSocket.make(SOCK_STREAM)
        try UnixSocket.bind(descriptor, to: path)
        #expect(listen(descriptor, 1) == 0)
        #expect(refusal(path)?.message.contains("in use") == true)
        close(descriptor)
        release(try ListeningSocket(path: path))
    }

    @Test("a stale socket is replaced, and another file is not")
    func stale() throws {
        let folder = try Folder()
        let path = "\(folder.path)/s"
        let descriptor = try UnixSocket.make(SOCK_STREAM)
        try UnixSocket.bind(descriptor, to: path)
        close(descriptor)
        release(try ListeningSocket(path: path))
        let file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        close(file)
        #expect(refusal(path)?.message.contains("is not a socket") == true)
        #expect(folder.contains("s"))
    }

    @Test("a socket file that was replaced is not removed")
    func replaced() throws {
        let folder = try Folder()
        let path = "\(folder.path)/s"
        let socket = try ListeningSocket(path: path)
        unlink(path)
        let other = try UnixSocket.make(SOCK_STREAM)
        try UnixSocket.bind(other, to: path)
        release(socket)
        #expect(folder.contains("s"))
        close(other)
    }

    @Test("a socket path of 107 bytes is bound, and one of 108 is refused with both numbers")
    func pathLength() throws {
        let folder = try Folder()
        let name = String(repeating: "x", count: 107 - folder.path.utf8.count - 1)
        release(try ListeningSocket(path: "\(folder.path)/\(name)"))
        let error = try #require(refusal("\(folder.path)/\(name)x"))
        #expect(error.code == .malformedValue)
        #expect(error.message.contains("108") && error.message.contains("107"))
        #expect(refusal("")?.code == .malformedValue)
    }
}
