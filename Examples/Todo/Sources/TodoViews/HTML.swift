/// Text of HTML. A value in an interpolation is escaped unless it is HTML itself.
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

        public mutating func appendInterpolation(_ number: Int) { text += "\(number)" }

        public mutating func appendInterpolation(_ value: String) {
            for character in value.unicodeScalars {
                switch character {
                case "&": text += "&amp;"
                case "<": text += "&lt;"
                case ">": text += "&gt;"
                case "\"": text += "&quot;"
                case "'": text += "&#39;"
                default: text.unicodeScalars.append(character)
                }
            }
        }
    }
}
