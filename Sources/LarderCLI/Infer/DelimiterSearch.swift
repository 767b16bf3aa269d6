import LarderModel
import LarderPrograms

/// Finds the character between the fields of a CSV file: the one that all of the first lines have
/// equally often.
enum DelimiterSearch {
    private static let delimiters = [",", ";", "\t", "|"].map { UInt8(ascii: $0) }
    private static let bytesMax = 64 << 10
    private static let linesMax = 20

    static func delimiter(of file: InputFile) throws(LarderError) -> UInt8 {
        let start = try file.prefix(bytesMax)
        let found = delimiters.map { (delimiter: $0, count: count(of: $0, in: start)) }
        // The comma is the first one, and max(by:) returns the last of equal ones.
        let best = found.reversed().max { $0.count < $1.count }
        return best.flatMap { $0.count > 0 ? $0.delimiter : nil } ?? delimiters[0]
    }

    /// How often a delimiter is in each complete line, outside of quotation marks; 0 if the lines
    /// differ.
    private static func count(of delimiter: UInt8, in bytes: ArraySlice<UInt8>) -> Int {
        var counts: [Int] = []
        var current = 0
        var isQuoted = false
        var isEmpty = true
        for byte in bytes {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == UInt8(ascii: "\n"), !isQuoted {
                if !isEmpty { counts.append(current) }
                if counts.count == linesMax { break }
                current = 0
                isEmpty = true
                continue
            }
            if byte != UInt8(ascii: "\r") { isEmpty = false }
            if byte == delimiter, !isQuoted { current += 1 }
        }
        if counts.isEmpty { counts = [current] }
        return counts.allSatisfy { $0 == counts[0] } ? counts[0] : 0
    }
}
