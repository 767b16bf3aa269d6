import FoundationEssentials
import LarderModel
import LarderWire
import Testing

@Suite("docs/protocol.md agrees with the code")
struct ProtocolDocumentTests {
    private static func text() throws -> String {
        let path = "\(Scripts.repository)/docs/protocol.md"
        return String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    }

    @Test("docs/protocol.md lists every error code with its number and name, and no other")
    func errorCodes() throws {
        let rows = try Self.text().split(separator: "\n").compactMap { line -> String? in
            let cells = line.split(separator: "|").map { $0.filter { $0 != " " } }
            guard cells.count >= 2, UInt32(cells[0]) != nil, cells[0].count == 3 else { return nil }
            return "\(cells[0]) \(cells[1])"
        }
        #expect(rows == ErrorCode.allCases.map { "\($0.rawValue) \($0.name)" })
    }

    @Test("docs/protocol.md has the limits of frames that a client must know")
    func frameLimits() throws {
        let rows = try Self.text().split(separator: "\n").filter { line in
            line.hasPrefix("| up to the reply to `hello`") || line.hasPrefix("| after it |")
        }
        let limits = rows.map { row in
            row.matches(of: /([0-9,]+) bytes/).compactMap { Int($0.1.replacing(",", with: "")) }
        }
        let handshakeMax = Limits.handshakeFrameBytesMax
        #expect(limits == [[handshakeMax, handshakeMax], [Limits.frameBytesMax]])
    }

    @Test("the example of a ping in docs/protocol.md is encoded as shown")
    func ping() throws {
        #expect(
            try WireTesting.frame(RequestEnvelope(id: 1, request: .ping))
                == [0, 0, 0, 5, 0x08, 0x01, 0x8a, 0x01, 0x00])
        #expect(try Self.text().contains("`00 00 00 05  08 01 8a 01 00`"))
    }

    @Test("the example of columns in docs/protocol.md is encoded as shown")
    func columns() throws {
        let batch = Batch(
            rowCount: 3,
            identity: .init(entityName: "Student", keys: [1, 2, 7], versions: [1, 1, 4]),
            columns: [
                Column(
                    name: "name", kind: .attribute(.string),
                    storage: .bytes(heap: Array("AnnBo".utf8), ends: [3, 3, 5]), nulls: [0x02]),
                Column(
                    name: "birthOfYear", kind: .attribute(.int64),
                    storage: .integers([2001, 2002, 0]), nulls: [0x04]),
            ])
        let frame = try WireTesting.frame(
            ReplyEnvelope(id: 1, reply: .batches([batch], more: false)))
        guard case .batches(let batches, _) = try WireTesting.reply(frame).reply else { return }
        let records = batches[0].records(store: Samples.store)
        #expect(records.map { $0["name"] } == ["Ann", .null, "Bo"])
        #expect(records.map { $0["birthOfYear"] } == [2001, 2002, .null])
        let text = try Self.text()
        #expect(text.contains(#"heap: "AnnBo"  ends: [3, 3, 5]  nulls: 02"#))
        #expect(text.contains("integers: [2001, 2002, 0]"))
    }
}
