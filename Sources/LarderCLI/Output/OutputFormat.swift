import ArgumentParser
import Glibc

/// The five forms in which results are printed.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    /// Columns under a heading, for people.
    case table
    /// A row a line, tab-separated, without heading, for shell scripts.
    case plain
    /// One array.
    case json
    /// An object a line.
    case jsonl
    /// RFC 4180, with a heading.
    case csv

    /// What is printed when nothing was asked for: a table for people, plain for programs.
    static var ofStandardOutput: OutputFormat { isatty(STDOUT_FILENO) == 1 ? .table : .plain }

    /// Whether rows are JSON objects, which name what they hold.
    var isJSON: Bool { self == .json || self == .jsonl }

    func makeWriter() -> any RowWriter {
        switch self {
        case .table: TableWriter()
        case .plain: PlainWriter()
        case .json: JSONWriter(isArray: true)
        case .jsonl: JSONWriter(isArray: false)
        case .csv: CSVWriter()
        }
    }
}
