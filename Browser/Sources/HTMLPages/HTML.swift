/// Text of HTML. A value in an interpolation is escaped unless it is HTML itself.
///
/// Escaping also shows what a reader would not see: control characters, marks that change the
/// direction of text, and characters without width appear as symbols. A form's field needs the
/// text as it is; write `\(exactly: text)` there.
public struct HTML: Equatable, Sendable, ExpressibleByStringInterpolation {
    public var text: String

    /// - Parameter trusted: HTML that is not escaped.
    public init(trusted: String) { text = trusted }

    public init(stringLiteral text: String) { self.text = text }

    public init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    public struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity)
        }

        public mutating func appendLiteral(_ literal: String) { text += literal }

        public mutating func appendInterpolation(_ html: HTML) { text += html.text }

        public mutating func appendInterpolation(_ html: HTML?) { text += html?.text ?? "" }

        public mutating func appendInterpolation(_ parts: [HTML]) {
            text += parts.map(\.text).joined(separator: "\n")
        }

        public mutating func appendInterpolation(_ number: some BinaryInteger) {
            text += number.description
        }

        public mutating func appendInterpolation(_ value: String) {
            HTML.escape(value, showingInvisible: true, to: &text)
        }

        /// Text whose invisible characters stay, for the value of a form's field.
        public mutating func appendInterpolation(exactly value: String) {
            HTML.escape(value, showingInvisible: false, to: &text)
        }
    }

    /// The only place where text becomes HTML.
    private static func escape(
        _ value: String, showingInvisible: Bool, to text: inout String
    ) {
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            default:
                if showingInvisible, let symbol = symbol(for: scalar) {
                    text += symbol
                } else {
                    text.unicodeScalars.append(scalar)
                }
            }
        }
    }

    /// The symbol for a character that has no shape of its own; nil for all others. Tabs and
    /// line ends are layout.
    static func symbol(for scalar: Unicode.Scalar) -> String? {
        switch scalar.value {
        case 0x09, 0x0A: nil
        // The pictures of control characters.
        case 0x00...0x1F: Unicode.Scalar(0x2400 + scalar.value).map { String($0) }
        case 0x7F: "\u{2421}"
        // C1 controls, marks of direction, separators, and characters without width.
        case 0x80...0x9F, 0xAD, 0x061C, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028...0x202E,
            0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F:
            "⟦U+\(hexadecimal(scalar.value))⟧"
        default: nil
        }
    }

    private static func hexadecimal(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

extension [HTML] {
    /// The parts one after another.
    public func joined(separator: String = "") -> HTML {
        HTML(trusted: map(\.text).joined(separator: separator))
    }
}
