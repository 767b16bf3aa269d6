import LarderFiles
import LarderModel

/// The destination of a dump: standard output, or a new file that gets its name when the dump is
/// complete.
struct DumpOutput {
    private static let chunkBytes = 256 << 10

    private let file: LarderFiles.NewFile?
    private var standardOutput = StandardOutput()
    private var buffer: [UInt8] = []
    private var offset = 0
    private var checksum = Checksum()
    private(set) var counts = DumpEnd()

    /// - Parameter path: nil for standard output.
    init(_ path: String?) throws(LarderError) {
        file = try path.map { (path) throws(LarderError) in try LarderFiles.NewFile(at: path) }
        buffer.reserveCapacity(2 * Self.chunkBytes)
    }

    mutating func write(header: DumpHeader) throws(LarderError) {
        try append(line: Array(try header.json.text.utf8))
    }

    mutating func write(object line: [UInt8]) throws(LarderError) {
        counts.objectCount += 1
        try append(line: line)
    }

    mutating func write(link line: [UInt8]) throws(LarderError) {
        counts.linkCount += 1
        try append(line: line)
    }

    /// Writes the last line, and gives a file its name.
    mutating func end() throws(LarderError) {
        try flush()
        counts.checksum = checksum.text
        try append(line: Array(counts.json.text.utf8))
        try flush()
        try standardOutput.flush()
        try file?.sync()
        try file?.publish()
    }

    private mutating func append(line: [UInt8]) throws(LarderError) {
        buffer += line
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= Self.chunkBytes { try flush() }
    }

    private mutating func flush() throws(LarderError) {
        checksum.append(buffer)
        if let file {
            try file.write(buffer, at: offset)
        } else {
            try standardOutput.write(bytes: buffer)
        }
        offset += buffer.count
        buffer.removeAll(keepingCapacity: true)
    }
}
