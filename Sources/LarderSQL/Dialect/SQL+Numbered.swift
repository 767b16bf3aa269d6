extension SQL {
    /// The statement with `$1`, `$2` and so on instead of `?`, as PostgreSQL writes parameters, and
    /// with names that are not longer than PostgreSQL's.
    ///
    /// A parameter that occurs several times has one number: PostgreSQL recognizes an expression of
    /// GROUP BY in the other clauses only if its parameters are the same. The explicit number of a
    /// `?3` in a literal stays, and a `?` after it has the next number.
    var numbered: SQL {
        var numbering = Numbering()
        let sources = parameters.flatMap { parameter in
            (0..<parameter.valueCount).map { Numbering.Value(parameter: parameter, index: $0) }
        }
        var sourceIndex = 0
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 16)
        var input = Array(text.utf8)[...]
        while let byte = input.popFirst() {
            switch byte {
            case UInt8(ascii: "'"): bytes += [byte] + Self.quoted(byte, from: &input)
            case UInt8(ascii: "\""):
                bytes += PostgresName.shortened(quoted: [byte] + Self.quoted(byte, from: &input))
            case UInt8(ascii: "?"):
                bytes.append(UInt8(ascii: "$"))
                let digits = input.prefix(while: Self.digits.contains)
                if let number = Int(String(decoding: digits, as: UTF8.self)) {
                    numbering.skip(to: number)
                    continue
                }
                let value = sourceIndex < sources.count ? sources[sourceIndex] : nil
                sourceIndex += 1
                bytes += String(numbering.number(of: value)).utf8
            default: bytes.append(byte)
            }
        }
        return with(
            String(decoding: bytes, as: UTF8.self),
            parameters.isEmpty ? [] : numbering.parameters)
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    /// The rest of a quoted name or literal, with its last quotation mark. A mark inside is doubled
    /// and so begins a quotation again.
    private static func quoted(_ mark: UInt8, from input: inout ArraySlice<UInt8>) -> [UInt8] {
        guard let end = input.firstIndex(of: mark) else { return [] }
        defer { input = input[(end + 1)...] }
        return Array(input[...end])
    }

    /// The numbers of the parameters so far.
    private struct Numbering {
        /// One value of a parameter, which has several if it is a list.
        struct Value: Hashable {
            var parameter: SQLParameter
            var index: Int
        }

        private var numbers: [Value: Int] = [:]
        private var count = 0
        private(set) var parameters: [SQLParameter] = []

        /// The next new number is greater.
        mutating func skip(to number: Int) { count = max(count, number) }

        /// - Parameter value: nil for a parameter that the caller binds by its index.
        mutating func number(of value: Value?) -> Int {
            guard let value else {
                count += 1
                return count
            }
            if let number = numbers[value] { return number }
            count += 1
            numbers[value] = count
            if value.index == 0 { parameters.append(value.parameter) }
            return count
        }
    }
}
