import HTMLPages
import LarderClient

/// Grouped results as a drawing: bars, or a line if the groups are numbers or dates in order. A
/// table below it has the same values, so the drawing is hidden from screen readers' lists.
enum Chart {
    /// The groups that are drawn; a table shows the others.
    static let groupsMax = 60

    struct Point: Equatable, Sendable {
        var label: String
        /// The position along a line; nil for a text.
        var position: Double?
        var number: Double
    }

    /// The points of the first column of numbers after the first group key; none if there are
    /// fewer than two.
    static func points(_ rows: [Row], keyCount: Int) -> (name: String, points: [Point])? {
        guard keyCount > 0, rows.count > 1, let first = rows.first,
            let column = first.names.indices.dropFirst(keyCount).first(where: { index in
                rows.contains { number($0.values[index]) != nil }
            })
        else { return nil }
        let points = rows.prefix(groupsMax).map { row in
            let keys = row.values.prefix(keyCount)
            return Point(
                label: keys.map { $0.isNull ? "nil" : label($0) }.joined(separator: ", "),
                position: keyCount == 1 ? position(row.values[0]) : nil,
                number: number(row.values[column]) ?? 0)
        }
        return (first.names[column], points)
    }

    static func html(_ name: String, _ points: [Point]) -> HTML {
        let positions = points.compactMap(\.position)
        let isLine =
            positions.count == points.count && points.count > 2
            && zip(positions, positions.dropFirst()).allSatisfy { $0.0 < $0.1 }
        return """
            <figure class="chart"><figcaption class="quiet">\(name)</figcaption>
            \(isLine ? line(name, points) : bars(name, points))</figure>
            """
    }

    // MARK: - Bars

    private static let labelWidth = 170.0
    private static let barWidth = 420.0

    private static func bars(_ name: String, _ points: [Point]) -> HTML {
        let numbers = points.map(\.number)
        let low = min(0, numbers.min() ?? 0)
        let high = max(0, numbers.max() ?? 0)
        let scale = scale(low, high, to: barWidth)
        let zero = labelWidth + 10 - low * scale
        let height = points.count * 24 + 8
        let parts = points.enumerated().map { index, point -> HTML in
            let top = Double(index * 24 + 4)
            let width = abs(point.number) * scale
            let left = point.number < 0 ? zero - width : zero
            let text = point.number < 0 ? zero : zero + width
            return """
                <text x="\(px(labelWidth))" y="\(px(top + 15))" text-anchor="end">\
                \(short(point.label))</text>
                <rect class="bar" x="\(px(left))" y="\(px(top))" width="\(px(max(width, 1)))" \
                height="18" rx="2"></rect>
                <text x="\(px(text + 6))" y="\(px(top + 15))">\(numberText(point.number))</text>
                """
        }
        return """
            <svg viewBox="0 0 720 \(height)" width="720" height="\(height)" role="img" \
            aria-label="Bars of \(name)"><title>\(name)</title>\(parts)</svg>
            """
    }

    // MARK: - Lines

    private static func line(_ name: String, _ points: [Point]) -> HTML {
        let (width, height, left, top) = (640.0, 220.0, 70.0, 12.0)
        let positions = points.compactMap(\.position)
        let (first, last) = (positions.first ?? 0, positions.last ?? 1)
        let low = min(0, points.map(\.number).min() ?? 0)
        let high = max(0, points.map(\.number).max() ?? 0)
        let (across, up) = (scale(first, last, to: width - left), scale(low, high, to: height))
        func x(_ position: Double) -> Double { left + (position - first) * across }
        func y(_ number: Double) -> Double { top + height - (number - low) * up }
        let path = points.enumerated().map { index, point in
            "\(index == 0 ? "M" : "L")\(px(x(point.position ?? 0))) \(px(y(point.number)))"
        }.joined(separator: " ")
        let dots = points.map { point -> HTML in
            """
            <circle class="dot" cx="\(px(x(point.position ?? 0)))" cy="\(px(y(point.number)))" \
            r="3"><title>\(point.label): \(numberText(point.number))</title></circle>
            """
        }
        let marks = [low, high].map { number -> HTML in
            """
            <line class="axis" x1="\(px(left))" x2="\(px(width))" y1="\(px(y(number)))" \
            y2="\(px(y(number)))"></line>
            <text class="quiet" x="\(px(left - 8))" y="\(px(y(number) + 4))" \
            text-anchor="end">\(numberText(number))</text>
            """
        }
        let bottom = px(top + height + 20)
        return """
            <svg viewBox="0 0 720 260" width="720" height="260" role="img" \
            aria-label="Line of \(name)"><title>\(name)</title>\(marks)
            <path class="curve" d="\(path)"></path>\(dots)
            <text class="quiet" x="\(px(left))" y="\(bottom)">\(short(points[0].label))</text>
            <text class="quiet" x="\(px(width))" y="\(bottom)" text-anchor="end">\
            \(short(points[points.count - 1].label))</text></svg>
            """
    }

    // MARK: - Numbers

    private static func number(_ value: Value) -> Double? {
        let number: Double? =
            switch value {
            case .int, .float, .double, .decimal: Double(value.text)
            default: nil
            }
        // A drawing has no place for infinity, and sums of such numbers would become NaN.
        return number.flatMap { abs($0) <= 1e300 ? $0 : nil }
    }

    private static func position(_ value: Value) -> Double? {
        guard case .date(let date) = value else { return number(value) }
        let seconds = date.timeIntervalSinceReferenceDate
        return abs(seconds) <= 1e300 ? seconds : nil
    }

    /// The pixels of one unit; 0 if there is nothing to show.
    private static func scale(_ low: Double, _ high: Double, to length: Double) -> Double {
        let span = high - low
        return span > 0 && span.isFinite ? length / span : 0
    }

    private static func label(_ value: Value) -> String {
        let text = value.text
        return text.hasSuffix("T00:00:00Z") ? String(text.dropLast(10)) : text
    }

    private static func short(_ text: String) -> String {
        text.count > 24 ? text.prefix(23) + "…" : text
    }

    private static func numberText(_ number: Double) -> String {
        if let whole = Int64(exactly: number) { return grouped(whole) }
        return Value.double((number * 1_000).rounded() / 1_000).text
    }

    /// A coordinate with one digit after the point.
    private static func px(_ number: Double) -> String {
        Value.double((number * 10).rounded() / 10).text
    }
}
