import Glibc
import LarderModel

/// The schema file as the daemon reads it: whole, and no more than a schema may have.
enum SchemaDocument {
    static func read(_ path: String) throws(LarderError) -> Schema {
        let text = try text(of: path)
        do throws(SchemaError) {
            return try SchemaFile.schema(parsing: text)
        } catch {
            var fault = error.larderError
            fault.message = "\(path): \(fault.message)"
            throw fault
        }
    }

    private static func text(of path: String) throws(LarderError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(path) }
            if count == 0 { break }
            bytes += piece[..<count]
            guard bytes.count <= Limits.schemaBytesMax else {
                throw LarderError(
                    .malformedSchema, "\(path) is longer than \(Limits.schemaBytesMax) bytes")
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw LarderError(.malformedSchema, "\(path) is not UTF-8")
        }
        return text
    }

    private static func unreadable(_ path: String) -> LarderError {
        let reason = SystemError(code: errno).text
        return LarderError(.malformedSchema, "\(path) cannot be read: \(reason)")
    }
}
