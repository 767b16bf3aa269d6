import Glibc
import LarderFiles
import LarderModel
import LarderPrograms

/// A new file with the rows that an import left out, each with its line and the reason.
///
/// It has the format of the imported file, so that it can be corrected and imported: in CSV, the
/// columns `@line` and `@error` precede the others; in JSON lines, they are members of the objects.
/// `import` ignores both.
///
/// It is a class because it owns the descriptor and closes it.
final class BadRows {
    /// The form of the rows.
    enum Form {
        case csv(header: [UInt8], delimiter: UInt8)
        case json
    }

    private let path: String
    private let countMax: Int?
    private let descriptor: Int32
    private var form: Form?
    private var buffer: [UInt8] = []
    private(set) var count = 0

    /// - Parameter countMax: The number of rows after which the import fails; nil for no limit.
    /// - Throws: `fileExists` and `storageFailed` if the file cannot be created.
    init(_ path: String, countMax: Int?) throws(LarderError) {
        self.path = path
        self.countMax = countMax
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw LarderFiles.NewFile.failure(path, errno) }
    }

    deinit { close(descriptor) }

    /// Sets the form, before the first row.
    func begin(_ form: Form) { self.form = form }

    /// Writes a row.
    ///
    /// - Parameter error: The reason. Its location is that of the row.
    /// - Throws: the error itself, with a hint, if it is one too many.
    func append(_ row: SourceRow, _ error: LarderError, _ fileName: String) throws(LarderError) {
        count += 1
        var error = error
        let place = "\(fileName), line \(row.line): "
        if error.message.hasPrefix(place) { error.message.removeFirst(place.count) }
        switch form {
        case .csv(let header, let delimiter)?:
            let separator = String(Unicode.Scalar(delimiter))
            if count == 1 { write(Array("@line\(separator)@error\(separator)".utf8) + header) }
            let reason = error.message.replacing("\"", with: "\"\"")
            write(Array("\(row.line)\(separator)\"\(reason)\"\(separator)".utf8) + row.text)
        case .json?, nil: write(json(row, error))
        }
        if buffer.count >= 64 << 10 { try flush() }
        if let countMax, count > countMax {
            try flush()
            throw error.at(line: row.line, of: fileName).adding(
                hint: "\(path) has the bad rows, which are more than \(countMax)")
        }
    }

    /// Writes the rest. Without a row, removes the file.
    func end() throws(LarderError) {
        if count == 0 { unlink(path) } else { try flush() }
    }

    /// A sentence about the rows; nil if there are none.
    var summary: String? {
        guard count > 0 else { return nil }
        return "\(count) \(count == 1 ? "row was" : "rows were") left out; \(path) has "
            + (count == 1 ? "it with the reason" : "them with the reasons")
    }

    private func json(_ row: SourceRow, _ error: LarderError) -> [UInt8] {
        var members: [String: JSONValue] = [:]
        let text = String(decoding: row.text, as: UTF8.self)
        if case .object(let found)? = try? JSONValue(parsing: text) {
            members = found
        } else {
            members["@text"] = .string(text)
        }
        members["@line"] = .integer(Int64(row.line))
        members["@error"] = .string(error.message)
        return Array(JSONValue.object(members).text.utf8)
    }

    private func write(_ line: [UInt8]) { buffer += line + [UInt8(ascii: "\n")] }

    private func flush() throws(LarderError) {
        var rest = buffer[...]
        buffer = []
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, Array(rest), rest.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                let code = errno
                throw LarderError(
                    code == ENOSPC ? .storageFull : .storageFailed,
                    "cannot write \(path): \(SystemError(code: code).text)")
            }
        }
    }
}
