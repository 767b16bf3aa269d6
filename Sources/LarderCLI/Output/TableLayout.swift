import LarderModel

/// The widths of the columns of a table, from the rows at its beginning.
struct TableLayout {
    /// The number of spaces between two columns.
    static let gap = 2
    /// A column of texts is not made narrower than this, so that something of them is seen.
    private static let textColumnsMin = 8

    private(set) var widths: [Int]
    let isRightAligned: [Bool]
    /// The widths below which the values of a column would be cut that must not be.
    private let widthsMin: [Int]

    /// - Parameter texts: The rows as they are printed.
    init(_ names: [String], _ rows: [[Value]], _ texts: [[String]]) {
        let valueWidths = names.indices.map { column in
            texts.reduce(0) { max($0, DisplayWidth.of($1[column])) }
        }
        widths = zip(names, valueWidths).map { max(DisplayWidth.of($0), $1) }
        isRightAligned = names.indices.map { column in
            Self.all(rows, column, are: \.isNumber)
        }
        widthsMin = names.indices.map { column in
            Self.all(rows, column, are: \.isShort)
                ? max(1, valueWidths[column])
                : min(Self.textColumnsMin, max(DisplayWidth.of(names[column]), valueWidths[column]))
        }
    }

    private static func all(
        _ rows: [[Value]], _ column: Int, are property: (Value) -> Bool
    ) -> Bool {
        let values = rows.lazy.map { $0[column] }.filter { !$0.isNull }
        return !values.isEmpty && values.allSatisfy(property)
    }

    var columnCount: Int {
        widths.reduce(0, +) + max(0, widths.count - 1) * Self.gap
    }

    /// The layout in a window: the widest columns of texts become narrower, no more than needed.
    ///
    /// - Returns: nil if it does not fit.
    func fitted(to windowColumns: Int) -> TableLayout? {
        if columnCount <= windowColumns { return self }
        let columns = windowColumns - max(0, widths.count - 1) * Self.gap
        guard widthsMin.reduce(0, +) <= columns else { return nil }
        var (low, high) = (0, columns)
        while low < high {
            let middle = (low + high + 1) / 2
            let isFitting = widths(atMost: middle).reduce(0, +) <= columns
            if isFitting { low = middle } else { high = middle - 1 }
        }
        var fitted = self
        fitted.widths = widths(atMost: low)
        var rest = columns - fitted.widths.reduce(0, +)
        for column in fitted.widths.indices
        where rest > 0 && fitted.widths[column] < self.widths[column] {
            fitted.widths[column] += 1
            rest -= 1
        }
        return fitted
    }

    private func widths(atMost width: Int) -> [Int] {
        zip(widths, widthsMin).map { min($0, max($1, width)) }
    }

    /// A row as a line. A value that is wider than its column shifts the rest.
    func line(_ row: [String]) -> String {
        var line = ""
        for (column, text) in row.enumerated() {
            let space = String(
                repeating: " ", count: max(0, widths[column] - DisplayWidth.of(text)))
            if column > 0 { line += String(repeating: " ", count: Self.gap) }
            line += isRightAligned[column] ? space + text : text + space
        }
        while line.last == " " { line.removeLast() }
        return line
    }

    /// A row whose texts are cut to the columns.
    func cut(_ row: [String]) -> [String] {
        zip(row, widths).map { DisplayWidth.cut($0, to: $1) }
    }

    /// The lines of a row whose last text is wrapped in its column, and the others are cut.
    func wrapped(_ row: [String]) -> [[String]] {
        guard let last = row.last, let width = widths.last else { return [row] }
        let lines = DisplayWidth.lines(last, width: max(1, width))
        let others = cut(row.dropLast())
        let blank = others.map { _ in "" }
        return lines.enumerated().map { ($0 == 0 ? others : blank) + [$1] }
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

    /// Whether a table never cuts the value, because a part of it would be another value.
    fileprivate var isShort: Bool {
        switch self {
        case .int, .float, .double, .decimal, .bool, .date, .uuid, .object: true
        default: false
        }
    }
}
