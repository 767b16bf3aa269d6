import LarderModel
import LarderPrograms

/// Writes aligned columns with a header: numbers right-aligned, nil blank.
///
/// On a terminal, identifiers are short: without the UUID of the store, which all of them have.
///
/// The first rows are buffered and determine the widths. A wider value in a later row shifts the
/// rest of its line.
struct TableWriter: RowWriter {
    private static let sampleRowsMax = 1_000
    private static let sampleBytesMax = 1 << 20

    private var output = StandardOutput()
    private var hasBegun = false
    private var names: [String] = []
    private var sample: [[Value]] = []
    private var sampleBytes = 0
    private var layout: Layout?

    private struct Layout {
        var widths: [Int]
        var isRightAligned: [Bool]
    }

    mutating func begin(_ names: [String]) throws(LarderError) {
        if hasBegun {
            if layout == nil { try writeSample() }
            try output.write("\n")
        }
        hasBegun = true
        self.names = names
        sampleBytes = 0
        layout = nil
    }

    mutating func write(_ row: [Value]) throws(LarderError) {
        if let layout {
            try write(row.map(Self.text), layout)
            return
        }
        sample.append(row)
        sampleBytes += row.reduce(0) { $0 + $1.text.utf8.count }
        if sample.count >= Self.sampleRowsMax || sampleBytes >= Self.sampleBytesMax {
            try writeSample()
        }
    }

    /// The first rows determine the widths, so that a table without rows has no header yet.
    mutating func flush() throws(LarderError) {
        if layout == nil && !sample.isEmpty { try writeSample() }
        try output.flush()
    }

    mutating func end() throws(LarderError) {
        if layout == nil { try writeSample() }
        try output.flush()
    }

    private mutating func writeSample() throws(LarderError) {
        let texts = sample.map { $0.map(Self.text) }
        let layout = Layout(
            widths: names.indices.map { column in
                texts.reduce(DisplayWidth.of(names[column])) {
                    max($0, DisplayWidth.of($1[column]))
                }
            },
            isRightAligned: names.indices.map { column in
                let values = sample.map { $0[column] }.filter { !$0.isNull }
                return !values.isEmpty && values.allSatisfy(\.isNumber)
            })
        self.layout = layout
        sample = []
        try write(names, layout)
        try write(layout.widths.map { String(repeating: "-", count: $0) }, layout)
        for row in texts { try write(row, layout) }
    }

    private mutating func write(_ row: [String], _ layout: Layout) throws(LarderError) {
        var line = ""
        for (column, text) in row.enumerated() {
            let gap = max(0, layout.widths[column] - DisplayWidth.of(text))
            let space = String(repeating: " ", count: gap)
            if column > 0 { line += "  " }
            line += layout.isRightAligned[column] ? space + text : text + space
        }
        while line.last == " " { line.removeLast() }
        try output.write(line + "\n")
    }

    private static func text(_ value: Value) -> String {
        guard StandardOutput.isTerminal else { return EscapedText.escaped(value.text) }
        // The width is that of what the terminal shows.
        return switch value {
        case .object(let identifier): TerminalText.shown(identifier.shortText)
        case .objects(let identifiers):
            TerminalText.shown(identifiers.map(\.shortText).joined(separator: " "))
        default: TerminalText.shown(EscapedText.escaped(value.text))
        }
    }
}

extension Value {
    /// Whether a table aligns the value to the right.
    fileprivate var isNumber: Bool {
        switch self {
        case .int, .float, .double, .decimal: true
        default: false
        }
    }
}
