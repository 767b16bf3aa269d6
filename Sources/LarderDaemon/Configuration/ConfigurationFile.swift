import LarderModel
import LarderPrograms

/// Reads configuration files: lines of `key = value`, as in TOML.
///
/// A file that is accepted is TOML with the same meaning. TOML has more: tables, numbers with a
/// point, dates and texts of several lines are errors, because no setting takes them.
struct ConfigurationFile {
    /// A value and its line in the file.
    struct Entry: Equatable {
        let setting: String
        let values: [String]
        let line: Int
    }

    enum Value: Equatable {
        case text(String)
        case number(Int64)
        case bool(Bool)
        case list([String])
    }

    private static let bytesMax = 1 << 20

    private(set) var entries: [Entry] = []
    private var problems: [String] = []

    /// - Throws: `malformedValue` with all problems and their lines, also if the file cannot be
    ///   read.
    static func read(_ path: String) throws(LarderError) -> [Entry] {
        let text: String
        do throws(LarderError) {
            text = try InputFile(path).text(bytesMax: bytesMax)
        } catch {
            throw LarderError(.malformedValue, error.message, hint: error.hint)
        }
        var file = ConfigurationFile()
        // Carriage return and line feed are one character.
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, line) in lines.enumerated() { file.read(line, number: index + 1) }
        guard file.problems.isEmpty else {
            let count = file.problems.count
            throw LarderError(
                .malformedValue,
                "\(path): the configuration has \(count == 1 ? "an error" : "\(count) errors")",
                problems: file.problems)
        }
        return file.entries
    }

    private mutating func read(_ line: Substring, number: Int) {
        do throws(LineError) {
            var reader = ConfigurationLine(line)
            guard let (key, value) = try reader.read() else { return }
            guard let setting = Setting.named(key) else {
                let hint = NameSuggestion.hint(for: key, among: Setting.all.map(\.name))
                throw LineError(
                    "there is no setting \"\(LarderError.printable(key))\""
                        + (hint.map { "; \($0)" } ?? ""))
            }
            if let other = entries.first(where: { $0.setting == key }) {
                throw LineError("\(key) is set in line \(other.line) already")
            }
            entries.append(
                Entry(setting: key, values: try setting.arguments(of: value), line: number))
        } catch {
            problems.append("line \(number): \(error.message)")
        }
    }
}

/// An error of one line.
struct LineError: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

extension Setting {
    /// The values as texts of the option; for a flag `true` or `false`.
    fileprivate func arguments(
        of value: ConfigurationFile.Value
    ) throws(LineError) -> [String] {
        switch (kind, value) {
        case (.text, .text(let text)), (.list, .text(let text)): return [text]
        case (.number, .number(let number)): return [String(number)]
        case (.flag, .bool(let value)): return [String(value)]
        case (.list, .list(let texts)): return texts
        case (.text, _): throw LineError("\(name) takes a text: \(name) = \"…\"")
        case (.number, _): throw LineError("\(name) takes a whole number: \(name) = 30")
        case (.flag, _): throw LineError("\(name) takes true or false")
        case (.list, _): throw LineError("\(name) takes texts: \(name) = [\"…\", \"…\"]")
        }
    }
}
