import LarderModel
import LarderPrograms

/// Writes aligned columns with a header: numbers right-aligned, nil blank.
///
/// On a terminal, identifiers are short: without the UUID of the store, which all of them have. A
/// table that is wider than the window gets narrower columns of texts, and is printed vertically if
/// that is not enough, or if it has one row only.
///
/// The first rows are buffered and determine the widths. A wider value in a later row is cut on a
/// terminal; elsewhere it shifts the rest of its line.
struct TableWriter: RowWriter {
    /// The form of a table that does not fit into the window.
    enum Overflow {
        /// Texts are cut, or the rows are printed vertically.
        case vertical
        /// The texts of the last column are wrapped, those of others cut.
        case wrapsLastColumn
        /// Texts and lines are cut.
        case cut
    }

    private static let sampleRowsMax = 1_000
    private static let sampleBytesMax = 1 << 20

    private let overflow: Overflow
    private var output = StandardOutput()
    private var hasBegun = false
    private var names: [String] = []
    private var shown: [String: ShownDecimal] = [:]
    private var sample: [[Value]] = []
    private var sampleBytes = 0
    /// nil before the sample is complete, and if the block is printed vertically.
    private var layout: TableLayout?
    private var vertical: VerticalWriter?
    /// nil if standard output is not a terminal.
    private var decimals: DecimalColumns?
    /// The width of the window; nil if standard output is not a terminal.
    private var windowColumns: Int?

    init(overflow: Overflow = .vertical) { self.overflow = overflow }

    mutating func begin(_ names: [String]) throws(LarderError) {
        try begin(names, decimals: [:])
    }

    mutating func begin(
        _ names: [String], decimals: [String: ShownDecimal]
    ) throws(LarderError) {
        if hasBegun {
            try endBlock()
            try output.write("\n")
        }
        hasBegun = true
        self.names = names
        shown = decimals
        sampleBytes = 0
        layout = nil
    }

    mutating func write(_ row: [Value]) throws(LarderError) {
        if vertical != nil {
            try vertical?.write(row)
            return
        }
        if let layout {
            let texts = texts(row)
            return try write(decimals?.aligned(texts) ?? texts, layout)
        }
        sample.append(row)
        sampleBytes += row.reduce(0) { $0 + $1.text.utf8.count }
        if sample.count >= Self.sampleRowsMax || sampleBytes >= Self.sampleBytesMax {
            try writeSample()
        }
    }

    /// The first rows determine the widths, so that a table without rows has no header yet.
    mutating func flush() throws(LarderError) {
        if layout == nil, vertical == nil, !sample.isEmpty { try writeSample() }
        try output.flush()
        try vertical?.flush()
    }

    mutating func end() throws(LarderError) {
        try endBlock()
        try output.flush()
    }

    private mutating func endBlock() throws(LarderError) {
        if layout == nil, vertical == nil { try writeSample(isComplete: true) }
        try vertical?.end()
        vertical = nil
    }

    private mutating func writeSample(isComplete: Bool = false) throws(LarderError) {
        let rows = sample
        sample = []
        var texts = rows.map(texts)
        windowColumns = TerminalWindow()?.columnCount
        if windowColumns != nil {
            let decimals = DecimalColumns(rows, texts, columnCount: names.count)
            texts = texts.map(decimals.aligned)
            self.decimals = decimals
        }
        let natural = TableLayout(names, rows, texts)
        guard let layout = fitted(natural, isOneRow: isComplete && rows.count == 1) else {
            return try writeVertically(rows)
        }
        self.layout = layout
        try write(heading: layout.line(windowColumns == nil ? names : layout.cut(names)))
        try write(line: layout.line(layout.widths.map { String(repeating: "-", count: $0) }))
        for row in texts { try write(row, layout) }
    }

    /// - Returns: nil if the rows are printed vertically.
    private func fitted(_ natural: TableLayout, isOneRow: Bool) -> TableLayout? {
        guard let windowColumns, natural.columnCount > windowColumns else { return natural }
        if overflow == .vertical, isOneRow { return nil }
        return natural.fitted(to: windowColumns) ?? (overflow == .cut ? natural : nil)
    }

    private mutating func writeVertically(_ rows: [[Value]]) throws(LarderError) {
        try output.flush()
        var writer = VerticalWriter()
        try writer.begin(names, decimals: shown)
        for row in rows { try writer.write(row) }
        vertical = writer
    }

    private mutating func write(_ row: [String], _ layout: TableLayout) throws(LarderError) {
        guard windowColumns != nil else { return try write(line: layout.line(row)) }
        let lines = overflow == .wrapsLastColumn ? layout.wrapped(row) : [layout.cut(row)]
        for line in lines { try write(line: layout.line(line)) }
    }

    private mutating func write(heading line: String) throws(LarderError) {
        guard let windowColumns else { return try output.write(line + "\n") }
        try output.write(heading: DisplayWidth.cut(line, to: windowColumns))
        try output.write("\n")
    }

    /// A line is cut only if its columns do not fit.
    private mutating func write(line: String) throws(LarderError) {
        try output.write((windowColumns.map { DisplayWidth.cut(line, to: $0) } ?? line) + "\n")
    }

    private func texts(_ row: [Value]) -> [String] {
        zip(row, names).map { Self.text($0, shown[$1]) }
    }

    static func text(_ value: Value, _ shown: ShownDecimal?) -> String {
        if case .decimal(let decimal) = value, let shown { return shown.text(decimal) }
        return text(value)
    }

    /// A value as one line of text. The width is that of what the terminal shows.
    static func text(_ value: Value) -> String {
        guard StandardOutput.isTerminal else { return EscapedText.escaped(value.text) }
        return switch value {
        case .object(let identifier): TerminalText.shown(identifier.shortText)
        case .objects(let identifiers):
            TerminalText.shown(identifiers.map(\.shortText).joined(separator: " "))
        default: TerminalText.shown(EscapedText.escaped(value.text))
        }
    }
}
