import LarderModel
import LarderPrograms

/// Reads the lines of a dump, and checks that it is complete and unchanged.
struct DumpReader {
    /// An object line or a link line.
    struct Line {
        let number: Int
        let byteCount: Int
        let members: [String: JSONValue]
    }

    let fileName: String
    let header: DumpHeader
    private var reader: LineReader
    private var checksum = Checksum()
    private var counts = DumpEnd()

    /// Reads the first line.
    ///
    /// - Parameter bytesMax: The maximum length of all lines, if they are kept in memory; nil for
    ///   no limit.
    /// - Throws: `malformedValue` for a file that is not a dump, `unsupported` for a newer format,
    ///   `malformedSchema`.
    init(_ file: InputFile, bytesMax: Int? = nil) throws(LarderError) {
        fileName = file.name
        reader = LineReader(file, bytesMax: bytesMax)
        guard let first = try reader.next() else {
            throw LarderError(
                .malformedValue, "\(file.name) is empty", hint: "make the dump again: larder dump")
        }
        do throws(LarderError) {
            header = try DumpHeader(first.text)
        } catch {
            throw error.at(line: 1, of: file.name)
        }
        append(first)
    }

    /// The part of the file that was read; nil if its size is unknown.
    var readFraction: Double? { reader.readFraction }

    /// Reads lines with objects as long as those of a server.
    mutating func acceptObjects(ofBytes bytes: Int) { reader.acceptObjects(ofBytes: bytes) }

    /// The next line; nil after the last one, which must be the last of the file.
    mutating func next() throws(LarderError) -> Line? {
        guard let line = try reader.next() else {
            throw LarderError(
                .malformedValue,
                "\(fileName) is truncated: the last line, with the numbers of objects and links, "
                    + "is missing",
                hint: "make the dump again: larder dump")
        }
        do throws(LarderError) {
            guard case .object(var members) = try JSONValue(parsing: line.text) else {
                throw LarderError(.malformedValue, "the line is not a JSON object")
            }
            if let end = members.removeValue(forKey: DumpEnd.member) {
                try check(DumpEnd(end))
            } else {
                append(line)
                if members["@link"] == nil {
                    counts.objectCount += 1
                } else {
                    counts.linkCount += 1
                }
                return Line(
                    number: line.number, byteCount: line.text.utf8.count, members: members)
            }
        } catch {
            throw error.at(line: line.number, of: fileName)
        }
        if let more = try reader.nextFilled() {
            throw LarderError(.malformedValue, "a line follows the last line of the dump")
                .at(line: more.number, of: fileName)
        }
        return nil
    }

    private mutating func append(_ line: LineReader.Line) {
        checksum.append(Array(line.text.utf8))
        checksum.append(UInt8(ascii: "\n"))
    }

    private func check(_ end: DumpEnd) throws(LarderError) {
        guard end.objectCount == counts.objectCount, end.linkCount == counts.linkCount else {
            throw LarderError(
                .malformedValue,
                """
                the dump has \(counts.objectCount) objects and \(counts.linkCount) links, but its \
                last line says \(end.objectCount) and \(end.linkCount)
                """, hint: "lines are missing or were added; make the dump again: larder dump")
        }
        guard end.checksum == nil || end.checksum == checksum.text else {
            throw LarderError(
                .malformedValue, "the dump was changed: its checksum does not match",
                hint: "make the dump again, or, if you have edited it, remove the member checksum")
        }
    }
}
