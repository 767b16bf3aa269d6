import LarderModel
import LarderQuery

/// The operators of strings. A character is Swift's: "é" is one, whatever its scalars are, and does
/// not begin with "e".
package enum StringFunctions {
    /// `larder_fold(text, options)`: the text without the differences that the options ignore.
    package static let fold = "larder_fold"

    /// The function `name(text, pattern, options)` of an operator: 1, 0, or nil if a side is nil.
    package static func name(of comparison: Comparison.Operator) -> String? {
        switch comparison {
        case .beginsWith: "larder_begins_with"
        case .endsWith: "larder_ends_with"
        case .contains: "larder_contains"
        case .like: "larder_like"
        case .matches: "larder_matches"
        default: nil
        }
    }

    package static func folded(
        _ text: String, _ options: Comparison.Options, _ interruption: Interruption = .never
    ) -> String {
        text.folded(options, interruption)
    }

    /// The first value, in binary order, after all strings with this prefix: the prefix with its
    /// last scalar incremented, or an empty blob, which comes after every text.
    static func endOfPrefix(_ prefix: String) -> SQLValue {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // U+E000 is the next scalar after U+D7FF; the surrogates between them are not scalars.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            var end = String.UnicodeScalarView()
            end.append(contentsOf: scalars)
            end.append(scalar)
            return .text(String(end))
        }
        return .blob([])
    }
}
