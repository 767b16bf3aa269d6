import LarderModel

/// Aligns the decimal points of decimals below one another in columns that are aligned to the
/// right. Decimals are printed as they are stored, with different numbers of digits.
struct DecimalColumns {
    /// The width from the decimal point on; 0 for columns of other values.
    private let fractionWidths: [Int]

    /// - Parameter texts: The rows as they are printed.
    init(_ rows: [[Value]], _ texts: [[String]], columnCount: Int) {
        fractionWidths = (0..<columnCount).map { column in
            let isDecimal = rows.allSatisfy { row in
                switch row[column] {
                case .decimal, .null: true
                default: false
                }
            }
            return isDecimal ? texts.reduce(0) { max($0, Self.fractionWidth(of: $1[column])) } : 0
        }
    }

    func aligned(_ texts: [String]) -> [String] {
        zip(texts, fractionWidths).map { text, width in
            guard !text.isEmpty, width > 0 else { return text }
            let gap = max(0, width - Self.fractionWidth(of: text))
            return text + String(repeating: " ", count: gap)
        }
    }

    private static func fractionWidth(of text: String) -> Int {
        text.utf8.firstIndex(of: UInt8(ascii: ".")).map { text.utf8[$0...].count } ?? 0
    }
}
