/// The longest sequence of characters that a regular expression requires, so that texts without it
/// need no match.
///
/// It is found for usual patterns only: those without alternatives at the top level, without
/// options or assertions in parentheses, and with no escapes other than classes and punctuation.
enum RequiredLiteral {
    /// The literal in UTF-8; empty if none is found.
    static func longest(in pattern: String) -> [UInt8] {
        var scanner = Scanner(rest: Array(pattern.utf8)[...])
        return scanner.scan() ? scanner.longest : []
    }

    private struct Scanner {
        var rest: ArraySlice<UInt8>
        var longest: [UInt8] = []
        private var current: [UInt8] = []

        init(rest: ArraySlice<UInt8>) { self.rest = rest }

        /// Returns false if the pattern is not a usual one.
        mutating func scan() -> Bool {
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "|"): return false
                case UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "$"): end()
                case UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "{"):
                    removeLast()
                    end()
                    if byte == UInt8(ascii: "{"), !skip(to: UInt8(ascii: "}")) { return false }
                case UInt8(ascii: "+"): end()
                case UInt8(ascii: "["):
                    end()
                    if !skipClass() { return false }
                case UInt8(ascii: "("):
                    end()
                    if !skipGroup() { return false }
                case UInt8(ascii: "\\"):
                    guard let escaped = escape() else { return false }
                    if let literal = escaped.literal { current.append(literal) } else { end() }
                default: current.append(byte)
                }
            }
            end()
            return true
        }

        private mutating func end() {
            if current.count > longest.count { longest = current }
            current = []
        }

        /// Removes the last scalar of the current literal, which may occur any number of times.
        private mutating func removeLast() {
            while let byte = current.popLast(), byte & 0xC0 == 0x80 {}
        }

        private mutating func skip(to end: UInt8) -> Bool {
            while let byte = rest.popFirst() { if byte == end { return true } }
            return false
        }

        /// An escaped sign, or a class of characters without a literal; nil for other escapes.
        private mutating func escape() -> (literal: UInt8?, Void)? {
            guard let byte = rest.popFirst() else { return nil }
            if "dDwWsSbBhHvVRXAzZ".utf8.contains(byte) { return (nil, ()) }
            let isSign = byte < 0x80 && !Character(Unicode.Scalar(byte)).isLetter
            return isSign && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                ? (byte, ()) : nil
        }

        /// Skips a class of characters; false for one with names of classes.
        private mutating func skipClass() -> Bool {
            if rest.first == UInt8(ascii: "^") { rest.removeFirst() }
            if rest.first == UInt8(ascii: "]") { rest.removeFirst() }
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "]"): return true
                case UInt8(ascii: "["): return false
                case UInt8(ascii: "\\"):
                    guard let escaped = rest.popFirst(), escaped != UInt8(ascii: "Q") else {
                        return false
                    }
                default: break
                }
            }
            return false
        }

        /// Skips a group; false for one with options, an assertion or a verb.
        private mutating func skipGroup() -> Bool {
            guard rest.first != UInt8(ascii: "?"), rest.first != UInt8(ascii: "*") else {
                return false
            }
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: ")"): return true
                case UInt8(ascii: "("): if !skipGroup() { return false }
                case UInt8(ascii: "["): if !skipClass() { return false }
                case UInt8(ascii: "\\"): if escape() == nil { return false }
                default: break
                }
            }
            return false
        }
    }
}
