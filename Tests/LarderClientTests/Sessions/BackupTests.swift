import FoundationEssentials
import LarderModel
import LarderWire
import Testing

@testable import LarderClient

@Suite("Receiving a backup")
struct BackupTests {
    private let folder = "/tmp/larder-backup-\(UUID().uuidString)"

    private var path: String { "\(folder)/backup" }

    private var files: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    private static let content = (0..<1_000).map { UInt8($0 & 0xFF) }

    private static var file: [UInt8] {
        var checksum = Checksum()
        checksum.append(content)
        return content + BackupTrailer.bytes(checksum)
    }

    /// Replies with parts of a file and then the end, as the credit allows.
    private static func send(
        _ file: [UInt8], byteCount: Int? = nil, over peer: Peer
    ) throws {
        let total = Int64(byteCount ?? file.count)
        var (offset, credit, id) = (0, 0, UInt64(0))
        while let envelope = peer.receive() {
            switch envelope.request {
            case .backup(let first): (credit, id) = (Int(first), envelope.id)
            case .credit(_, let batches): credit += Int(batches)
            case .cancel: return
            default: throw Peer.Unexpected(envelope)
            }
            while credit > 0, offset < file.count {
                let part = Array(file[offset..<min(offset + 100, file.count)])
                try peer.reply(
                    id, .backup(BackupPart(content: part, byteCount: total), more: true))
                (offset, credit) = (offset + part.count, credit - 1)
            }
            guard offset == file.count else { continue }
            let end = BackupPart(byteCount: total, transaction: 7)
            return try peer.reply(id, .backup(end, more: false))
        }
    }

    /// The outcome of a backup from a server with this script.
    private func backup(
        _ script: @escaping ScriptedServer.Script
    ) throws -> Result<StoreBackup, LarderError> {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let server = try ScriptedServer { peer, number in
            try peer.greet()
            try script(peer, number)
            // Until the client closes the connection.
            while peer.receive() != nil {}
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        defer { client.close() }
        let result = Result { () throws(LarderError) in try client.backup(to: path) }
        if case .success = result {
            #expect(files == ["backup"])
            let bytes = try Data(contentsOf: URL(filePath: path))
            #expect(Array(bytes) == Self.file)
        } else {
            #expect(files.isEmpty)
        }
        return result
    }

    private func code(_ script: @escaping ScriptedServer.Script) throws -> ErrorCode? {
        if case .failure(let error) = try backup(script) { error.code } else { nil }
    }

    @Test("a received backup has its parts in order, its size and its position")
    func parts() throws {
        let backup = try backup { peer, _ in try Self.send(Self.file, over: peer) }.get()
        #expect(backup.path == path)
        #expect(backup.byteCount == 1_016)
        #expect(backup.position.number == 7)
        #expect(backup.store == Welcome.sample.storeIdentifier)
    }

    @Test("a received backup with a changed byte, or with missing or excess bytes, is refused")
    func damage() throws {
        for index in [0, 500, 1_000, 1_015] {
            var file = Self.file
            file[index] ^= 1
            let outcome = try code { [file] peer, _ in try Self.send(file, over: peer) }
            #expect(outcome == .storageFailed)
        }
        #expect(
            try code { peer, _ in
                try Self.send(Array(Self.file.dropLast(16)), byteCount: 1_016, over: peer)
            } == .storageFailed)
        #expect(
            try code { peer, _ in try Self.send(Self.file, byteCount: 500, over: peer) }
                == .malformedMessage)
        #expect(try code { peer, _ in try Self.send([], over: peer) } == .storageFailed)
    }

    @Test("a received backup leaves no file after an error or another kind of reply")
    func errors() throws {
        let full = LarderError(.storageFull, "no room")
        for (reply, code) in [(.failed(full), .storageFull), (.pong, .malformedMessage)]
            as [(Reply, ErrorCode)]
        {
            #expect(
                try self.code { peer, _ in
                    try peer.reply(try peer.receiveFirst().id, reply)
                } == code)
        }
    }

    @Test("a backup is requested again only if the connection is lost before its first part")
    func reconnection() throws {
        let again = try backup { peer, number in
            guard number > 1 else {
                _ = try peer.receiveFirst()
                return peer.close()
            }
            try Self.send(Self.file, over: peer)
        }
        #expect(try again.get().byteCount == 1_016)
        #expect(
            try code { peer, _ in
                let id = try peer.receiveFirst().id
                let part = BackupPart(content: [1, 2, 3], byteCount: 1_016)
                try peer.reply(id, .backup(part, more: true))
                peer.close()
            } == .connectionFailed)
    }
}
