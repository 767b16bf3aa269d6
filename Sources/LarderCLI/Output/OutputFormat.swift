import ArgumentParser

/// The formats in which results are printed.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    /// Aligned columns with a header, for people.
    case table
    /// One line per value, for people.
    case vertical
    /// One row per line, tab-separated, without a header, for shell scripts.
    case plain
    /// One JSON array of objects.
    case json
    /// One JSON object per line.
    case jsonl
    /// CSV (RFC 4180) with a header.
    case csv

    /// The format without `--output`: a table on a terminal, otherwise plain.
    static var standardOutputDefault: OutputFormat { StandardOutput.isTerminal ? .table : .plain }

    /// Whether rows are JSON objects, which contain the names of columns.
    var isJSON: Bool { self == .json || self == .jsonl }

    /// Whether values are shortened for people.
    var isForPeople: Bool { self == .table || self == .vertical }

    func makeWriter() -> any RowWriter {
        switch self {
        case .table: TableWriter()
        case .vertical: VerticalWriter()
        case .plain: PlainWriter()
        case .json: JSONWriter(isArray: true)
        case .jsonl: JSONWriter(isArray: false)
        case .csv: CSVWriter()
        }
    }
}
