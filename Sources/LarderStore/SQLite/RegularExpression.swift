import CPCRE2

/// A compiled regular expression in PCRE2's syntax, over Unicode text.
///
/// Used by one thread at a time, since it owns the memory that a match works in. What one match may
/// do is bounded, so a pattern that backtracks without end gives an error, not a stall.
final class RegularExpression {
    struct Fault: Error, Hashable, Sendable {
        /// What PCRE2 says is wrong.
        var message: String
        /// Where in the pattern, in UTF-8 bytes from 0; nil for a fault while matching.
        var offset: Int?
    }

    private enum Bounds {
        static let patternBytesMax = 16 << 10
        static let stepsMax: UInt32 = 1_000_000
        static let heapKibibytesMax: UInt32 = 16 << 10
    }

    private let code: OpaquePointer
    private let matchData: OpaquePointer
    private let matchContext: OpaquePointer

    init(_ pattern: String, caseInsensitive: Bool = false) throws(Fault) {
        guard pattern.utf8.count <= Bounds.patternBytesMax else {
            throw Fault(message: "the pattern is longer than \(Bounds.patternBytesMax) bytes")
        }
        var errorCode: Int32 = 0
        var errorOffset = 0
        // \C could stop inside a character.
        var options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C
        if caseInsensitive { options |= PCRE2_CASELESS }
        var text = pattern
        let compiled = text.withUTF8 { bytes in
            // A nil address would be refused even with length 0.
            var none: UInt8 = 0
            return withUnsafePointer(to: &none) { empty in
                pcre2_compile_8(
                    bytes.baseAddress ?? empty, bytes.count, options, &errorCode, &errorOffset, nil)
            }
        }
        guard let compiled else {
            throw Fault(message: RegularExpression.message(errorCode), offset: errorOffset)
        }
        guard let matchData = pcre2_match_data_create_from_pattern_8(compiled, nil),
            let matchContext = pcre2_match_context_create_8(nil)
        else {
            pcre2_code_free_8(compiled)
            throw Fault(message: "no memory for the pattern")
        }
        pcre2_set_match_limit_8(matchContext, Bounds.stepsMax)
        pcre2_set_heap_limit_8(matchContext, Bounds.heapKibibytesMax)
        code = compiled
        self.matchData = matchData
        self.matchContext = matchContext
    }

    deinit {
        pcre2_match_context_free_8(matchContext)
        pcre2_match_data_free_8(matchData)
        pcre2_code_free_8(code)
    }

    /// Whether the whole text, in UTF-8, matches.
    ///
    /// - Throws: ``Fault`` when the match takes more than it may.
    func matchesWhole(_ bytes: UnsafeRawBufferPointer) throws(Fault) -> Bool {
        var none: UInt8 = 0
        let result = withUnsafePointer(to: &none) { empty in
            pcre2_match_8(
                code, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? empty, bytes.count,
                0, PCRE2_ANCHORED | PCRE2_ENDANCHORED, matchData, matchContext)
        }
        if result >= 0 { return true }
        if result == PCRE2_ERROR_NOMATCH { return false }
        throw Fault(message: RegularExpression.message(result))
    }

    func matchesWhole(_ string: String) throws(Fault) -> Bool {
        var text = string
        let result = text.withUTF8 { bytes in
            Result { () throws(Fault) in try matchesWhole(UnsafeRawBufferPointer(bytes)) }
        }
        return try result.get()
    }

    private static func message(_ code: Int32) -> String {
        let bytes = [UInt8](unsafeUninitializedCapacity: 256) { buffer, count in
            let written = pcre2_get_error_message_8(code, buffer.baseAddress, buffer.count)
            count = written > 0 ? Int(written) : 0
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
