import FoundationEssentials
import LarderModel
import LarderSQL

/// The rows of a table of another program's SQLite file as CSV with a header: nil is an empty
/// field, a text is in quotation marks, numbers have all their digits, and bytes are base64.
package final class DatabaseRows {
    /// The records that are returned at once have at least this size, except the last ones.
    private static let chunkBytes = 64 << 10

    private let file: DatabaseFile
    private let statement: Statement
    private var header: [UInt8]?
    /// Another step would begin again.
    private var hasEnded = false

    init(_ file: DatabaseFile, _ statement: Statement, columns: [String]) {
        self.file = file
        self.statement = statement
        var bytes: [UInt8] = []
        for (index, name) in columns.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            Self.append(quoted: name.utf8, to: &bytes)
        }
        header = bytes + [UInt8(ascii: "\n")]
    }

    /// The next records, the header first; none after the last row.
    package func next() throws(LarderError) -> [UInt8] {
        if let bytes = header {
            header = nil
            return bytes
        }
        do throws(SQLError) {
            var bytes: [UInt8] = []
            while bytes.count < Self.chunkBytes, !hasEnded {
                hasEnded = try !statement.step()
                if hasEnded { break }
                for index in 0..<statement.columnCount {
                    if index > 0 { bytes.append(UInt8(ascii: ",")) }
                    append(index, to: &bytes)
                }
                bytes.append(UInt8(ascii: "\n"))
            }
            return bytes
        } catch {
            throw file.failure(error)
        }
    }

    private func append(_ index: Int, to bytes: inout [UInt8]) {
        switch statement.type(at: index) {
        case .null: break
        case .integer: bytes += "\(statement.int64(at: index))".utf8
        case .real: bytes += "\(statement.double(at: index))".utf8
        case .text: statement.withBytes(at: index) { Self.append(quoted: $0, to: &bytes) }
        case .blob:
            let base64 = Data(statement.blob(at: index)).base64EncodedString()
            Self.append(quoted: base64.utf8, to: &bytes)
        }
    }

    private static func append(quoted text: some Sequence<UInt8>, to bytes: inout [UInt8]) {
        let mark = UInt8(ascii: "\"")
        bytes.append(mark)
        for byte in text {
            if byte == mark { bytes.append(mark) }
            bytes.append(byte)
        }
        bytes.append(mark)
    }
}
