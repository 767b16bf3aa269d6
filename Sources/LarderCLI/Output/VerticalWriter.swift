import LarderModel
import LarderPrograms

/// Writes each row as lines of a name and a value, and an empty line between two rows; nil is
/// blank. On a terminal, a value is wrapped in the window next to its name, or below it if there is
/// no room for both.
struct VerticalWriter: RowWriter {
    private static let gap = 2
    private static let valueColumnsMin = 10

    private var output = StandardOutput()
    private var names: [String] = []
    private var shown: [String: ShownDecimal] = [:]
    private var indent = 0
    private var windowColumns: Int?
    private var hasWritten = false

    mutating func begin(_ names: [String]) throws(LarderError) {
        try begin(names, decimals: [:])
    }

    mutating func begin(
        _ names: [String], decimals: [String: ShownDecimal]
    ) throws(LarderError) {
        self.names = names
        shown = decimals
        indent = names.reduce(0) { max($0, DisplayWidth.of($1)) } + Self.gap
        windowColumns = TerminalWindow()?.columnCount
    }

    mutating func write(_ row: [Value]) throws(LarderError) {
        if hasWritten { try output.write("\n") }
        hasWritten = true
        for (name, value) in zip(names, row) {
            try write(name, TableWriter.text(value, shown[name]))
        }
    }

    mutating func flush() throws(LarderError) { try output.flush() }

    mutating func end() throws(LarderError) { try output.flush() }

    private mutating func write(_ name: String, _ text: String) throws(LarderError) {
        let columns = windowColumns ?? .max
        let isBeside = indent + Self.valueColumnsMin <= columns
        try output.write(heading: isBeside ? name : DisplayWidth.cut(name, to: columns))
        let width = isBeside ? columns - indent : columns
        for (index, line) in DisplayWidth.lines(text, width: width).enumerated() where !text.isEmpty
        {
            let space = isBeside ? indent - (index == 0 ? DisplayWidth.of(name) : 0) : 0
            let start = isBeside && index == 0 ? "" : "\n"
            try output.write(start + String(repeating: " ", count: space) + line)
        }
        try output.write("\n")
    }
}
