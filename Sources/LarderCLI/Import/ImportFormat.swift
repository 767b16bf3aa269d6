import ArgumentParser
import LarderModel
import LarderPrograms

/// The format of a file with objects.
enum ImportFormat: String, ExpressibleByArgument, CaseIterable {
    /// The first character distinguishes JSON lines from a JSON array.
    case jsonl, json, csv, tsv

    var isJSON: Bool { self == .jsonl || self == .json }

    /// The format of a file by the ending of its name; nil for another ending.
    init?(path: String) {
        let name = path.lowercased()
        guard let format = Self.allCases.first(where: { name.hasSuffix(".\($0)") }) else {
            return nil
        }
        self = format
    }

    /// The format of a file by its name or, if that does not say, by its first character.
    static func found(_ file: InputFile, path: String) throws(LarderError) -> ImportFormat {
        if let format = ImportFormat(path: path) { return format }
        let isSpace: (UInt8) -> Bool = { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let first = try file.prefix(1_024).first { !isSpace($0) }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[") ? .jsonl : .csv
    }
}

extension FormatOptions {
    /// An inference for a file.
    func inference(
        _ file: InputFile, _ path: String, _ format: ImportFormat?, skipsBadRows: Bool = false
    ) throws -> FileInference {
        let found = try format ?? ImportFormat.found(file, path: path)
        return try FileInference(
            file, self.format(isTSV: found == .tsv), isJSON: found.isJSON,
            findsDelimiter: delimiter == nil && found == .csv, skipsBadRows: skipsBadRows)
    }
}
