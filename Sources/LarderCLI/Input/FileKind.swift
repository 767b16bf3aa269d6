import LarderModel
import LarderPrograms

/// Recognizes files that are neither CSV nor JSON by their first bytes, so that the error says what
/// to do with them.
enum FileKind {
    private static let signatures: [(bytes: [UInt8], name: String, hint: String)] = [
        (
            [0x50, 0x4B, 0x03, 0x04], "a ZIP archive, as .xlsx and .ods files are",
            "save a spreadsheet as CSV, or unpack one file: unzip -p FILE NAME"
        ),
        ([0x1F, 0x8B], "compressed", "unpack it: zcat FILE > NEWFILE"),
        ([0x42, 0x5A, 0x68], "compressed", "unpack it: bzcat FILE > NEWFILE"),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "compressed", "unpack it: xzcat FILE > NEWFILE"),
        ([0x28, 0xB5, 0x2F, 0xFD], "compressed", "unpack it: zstdcat FILE > NEWFILE"),
        (Array("%PDF-".utf8), "a PDF document", "export the table as CSV"),
        ([0xD0, 0xCF, 0x11, 0xE0], "an old Office document", "save a spreadsheet as CSV"),
        (Array("PAR1".utf8), "in Parquet", "convert it to CSV or JSON lines"),
    ]

    private static let sqlite = Array("SQLite format 3\0".utf8)

    /// Whether the file is an SQLite database.
    static func isSQLite(_ file: InputFile) throws(LarderError) -> Bool {
        try file.prefix(sqlite.count).elementsEqual(sqlite)
    }

    /// - Throws: `malformedValue` for a file of another kind.
    static func check(_ file: InputFile) throws(LarderError) {
        if try isSQLite(file) {
            throw failure(
                file, "an SQLite database",
                hint: "larder schema infer FILE prints a schema for its tables, and the commands "
                    + "that import them: larder import ENTITY FILE --table NAME")
        }
        let start = try file.prefix(16)
        if let found = signatures.first(where: { start.starts(with: $0.bytes) }) {
            throw failure(file, found.name, hint: found.hint)
        }
        if isMarkup(try file.prefix(64)) {
            throw failure(
                file, "an HTML or XML document", hint: "export its table as CSV or JSON")
        }
        guard !isUTF16(start) else {
            throw failure(
                file, "in UTF-16", hint: "convert it: iconv -f utf-16 -t utf-8 FILE > NEWFILE")
        }
    }

    /// Whether the bytes begin as a document in HTML or XML does, such as the page of an error that
    /// a server sends instead of a file.
    private static func isMarkup(_ start: ArraySlice<UInt8>) -> Bool {
        let bytes = start.starts(with: [0xEF, 0xBB, 0xBF]) ? start.dropFirst(3) : start
        let text = String(decoding: bytes, as: UTF8.self).lowercased().drop(while: \.isWhitespace)
        return ["<!doctype", "<html", "<?xml"].contains(where: text.hasPrefix)
    }

    /// Whether the bytes have a byte order mark of UTF-16, or two ASCII characters of it.
    private static func isUTF16(_ start: ArraySlice<UInt8>) -> Bool {
        if start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF]) { return true }
        let bytes = start.prefix(4).map { $0 == 0 }
        return bytes == [false, true, false, true] || bytes == [true, false, true, false]
    }

    private static func failure(
        _ file: InputFile, _ kind: String, hint: String
    ) -> LarderError {
        let path = file.isStandardInput ? "FILE" : file.name
        return LarderError(
            .malformedValue, "\(file.name) is \(kind)",
            hint: hint.replacing(/\bFILE/, with: path))
    }
}
