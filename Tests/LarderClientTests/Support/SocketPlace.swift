import Glibc
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
        let listener = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        try #require(listener >= 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        unlink(path)
        let status = withUnsafeBytes(of: &address) {
            bind(
                listener, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                socklen_t($0.count))
        }
        try #require(status == 0)
        try #require(Glibc.listen(listener, backlog) == 0)
        return listener
    }
}
