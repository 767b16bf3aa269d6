import CPCRE2
import LarderModel

/// A compiled regular expression in PCRE2's syntax, over Unicode text.
///
/// Used by one thread at a time, since it owns the memory that a match works in. What one match may
/// do is bounded, so a pattern that backtracks without end gives an error, not a stall.
///
/// PCRE2 counts where it backtracks to, and a single such step may pass over the whole text. A text
/// that is long enough for that to matter is therefore matched with callouts, in which the way is
/// counted: they cost half as much again, so short texts are matched without.
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
        /// Texts up to here are short: a million steps over one take less than a second.
        static let shortBytesMax = 1 << 10
        /// What a match may pass over, all its steps together: some seconds.
        static let passedBytesMax = 1 << 30
    }

    private let pattern: String
    private let options: UInt32
    private let code: OpaquePointer
    /// The same with callouts, made for the first long text.
    private var watchedCode: OpaquePointer?
    private let watch = MatchWatch(passedBytesMax: Bounds.passedBytesMax)
    private let matchData: OpaquePointer
    private let matchContext: OpaquePointer

    init(_ pattern: String, caseInsensitive: Bool = false) throws(Fault) {
        guard pattern.utf8.count <= Bounds.patternBytesMax else {
            throw Fault(message: "the pattern is longer than \(Bounds.patternBytesMax) bytes")
        }
        // \C could stop inside a character.
        var options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C
        if caseInsensitive { options |= PCRE2_CASELESS }
        let compiled = try Self.compiled(pattern, options)
        guard let matchData = pcre2_match_data_create_from_pattern_8(compiled, nil),
            let matchContext = pcre2_match_context_create_8(nil)
        else {
            pcre2_code_free_8(compiled)
            throw Fault(message: "no memory for the pattern")
        }
        pcre2_set_match_limit_8(matchContext, Bounds.stepsMax)
        pcre2_set_heap_limit_8(matchContext, Bounds.heapKibibytesMax)
        // Unretained: the watch lives as long as the context, which nobody else has.
        pcre2_set_callout_8(
            matchContext,
            { block, watch in
                guard let block, let watch else { return 0 }
                let position = block.pointee.current_position
                let isAllowed = Unmanaged<MatchWatch>.fromOpaque(watch).takeUnretainedValue()
                    .allows(movingTo: position)
                return isAllowed ? 0 : PCRE2_ERROR_MATCHLIMIT
            }, Unmanaged.passUnretained(watch).toOpaque())
        self.pattern = pattern
        self.options = options
        code = compiled
        self.matchData = matchData
        self.matchContext = matchContext
    }

    deinit {
        pcre2_match_context_free_8(matchContext)
        pcre2_match_data_free_8(matchData)
        pcre2_code_free_8(code)
        pcre2_code_free_8(watchedCode)
    }

    private static func compiled(
        _ pattern: String, _ options: UInt32
    ) throws(Fault) -> OpaquePointer {
        var errorCode: Int32 = 0
        var errorOffset = 0
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
        return compiled
    }

    private func code(for byteCount: Int) throws(Fault) -> OpaquePointer {
        guard byteCount > Bounds.shortBytesMax else { return code }
        if let watchedCode { return watchedCode }
        let compiled = try Self.compiled(pattern, options | PCRE2_AUTO_CALLOUT)
        watchedCode = compiled
        return compiled
    }

    /// Whether the whole text, in UTF-8, matches.
    ///
    /// - Throws: ``Fault`` when the match takes more than it may.
    func matchesWhole(
        _ bytes: UnsafeRawBufferPointer, _ interruption: Interruption = .never
    ) throws(Fault) -> Bool {
        let code = try code(for: bytes.count)
        watch.start(interruption)
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

    func matchesWhole(
        _ string: String, _ interruption: Interruption = .never
    ) throws(Fault) -> Bool {
        var text = string
        let result = text.withUTF8 { bytes in
            Result { () throws(Fault) in
                try matchesWhole(UnsafeRawBufferPointer(bytes), interruption)
            }
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
