import Glibc
import TestSupport
import Testing

/// A path for a socket, in a folder that did not exist before and goes when nobody holds this.
final class SocketPlace: Sendable {
    let path: String
    private let folder: String

    init() throws {
        var template = Array("/tmp/larder-client-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = folder + "/socket"
    }

    deinit {
        unlink(path)
        rmdir(folder)
    }

    /// A socket that listens at the path, in place of any that did before.
    func listen(backlog: Int32) throws -> Int32 {
        let listener = try boundSocket(SOCK_STREAM, at: path)
        try #require(Glibc.listen(listener, backlog) == 0)
        return listener
    }
}
