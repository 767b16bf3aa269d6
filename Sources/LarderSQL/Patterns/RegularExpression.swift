import CPCRE2
import Glibc
import LarderModel

/// A compiled regular expression in PCRE2's syntax, over Unicode text.
///
/// Used by one thread at a time, because it owns the memory of a match. The work of a match is
/// limited, so a pattern that backtracks without end results in an error and not in a stall.
///
/// PCRE2 limits the number of backtracking steps, but a single step may move over the whole text.
/// Long texts are therefore matched with callouts, which count the bytes of every move. They cost
/// half as much again, so short texts are matched without them.
package final class RegularExpression {
    package struct Problem: Error, Hashable, Sendable {
        /// PCRE2's message.
        package var message: String
        /// The offset in the pattern, in UTF-8 bytes; nil for an error of a match.
        package var offset: Int?
    }

    private enum Bounds {
        static let patternBytesMax = 16 << 10
        static let stepsMax: UInt32 = 1_000_000
        static let heapKibibytesMax: UInt32 = 16 << 10
        /// The length of a short text: a million steps over one take less than a second.
        static let shortBytesMax = 1 << 10
        /// The bytes over which all steps of a match may move: some seconds.
        static let movedBytesMax = 1 << 30
    }

    /// Matches that need more memory release it. PCRE2 keeps it for the next match otherwise, up to
    /// 16 MiB for each pattern of a cache.
    static let keptBytesMax = 64 << 10

    /// The longest block for the current match data.
    private final class LongestBlock { var byteCount = 0 }

    private let pattern: String
    private let options: UInt32
    private let code: OpaquePointer
    /// The pattern compiled with callouts, for long texts.
    private var watchedCode: OpaquePointer?
    private let watch = MatchWatch(movedBytesMax: Bounds.movedBytesMax)
    private var matchData: OpaquePointer
    private let matchMemory: OpaquePointer
    private let longestBlock = LongestBlock()
    private let matchContext: OpaquePointer

    package init(_ pattern: String, caseInsensitive: Bool = false) throws(Problem) {
        guard pattern.utf8.count <= Bounds.patternBytesMax else {
            throw Problem(message: "the pattern is longer than \(Bounds.patternBytesMax) bytes")
        }
        // \C could stop inside a character.
        var options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C
        if caseInsensitive { options |= PCRE2_CASELESS }
        let compiled = try Self.compiled(pattern, options)
        let matchMemory = Self.memory(longestBlock)
        guard let matchMemory,
            let matchData = pcre2_match_data_create_from_pattern_8(compiled, matchMemory),
            let matchContext = pcre2_match_context_create_8(nil)
        else {
            pcre2_general_context_free_8(matchMemory)
            pcre2_code_free_8(compiled)
            throw Problem(message: "no memory for the pattern")
        }
        pcre2_set_match_limit_8(matchContext, Bounds.stepsMax)
        pcre2_set_heap_limit_8(matchContext, Bounds.heapKibibytesMax)
        // Unretained: the watch lives as long as the context, which has one owner.
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
        self.matchMemory = matchMemory
        self.matchData = matchData
        self.matchContext = matchContext
    }

    deinit {
        pcre2_match_context_free_8(matchContext)
        pcre2_match_data_free_8(matchData)
        pcre2_general_context_free_8(matchMemory)
        pcre2_code_free_8(code)
        pcre2_code_free_8(watchedCode)
    }

    /// Allocates with malloc, and notes the longest block.
    private static func memory(_ longestBlock: LongestBlock) -> OpaquePointer? {
        // Unretained: the expression owns both.
        pcre2_general_context_create_8(
            { count, longest in
                guard let longest else { return nil }
                let block = Unmanaged<LongestBlock>.fromOpaque(longest).takeUnretainedValue()
                block.byteCount = max(block.byteCount, count)
                return malloc(count)
            }, { block, _ in free(block) }, Unmanaged.passUnretained(longestBlock).toOpaque())
    }

    /// The longest block that is kept for the next match.
    var keptBytes: Int { longestBlock.byteCount }

    private func releaseLongBlocks() {
        guard keptBytes > Self.keptBytesMax,
            let fresh = pcre2_match_data_create_from_pattern_8(code, matchMemory)
        else { return }
        pcre2_match_data_free_8(matchData)
        matchData = fresh
        longestBlock.byteCount = 0
    }

    private static func compiled(
        _ pattern: String, _ options: UInt32
    ) throws(Problem) -> OpaquePointer {
        var errorCode: Int32 = 0
        var errorOffset = 0
        var text = pattern
        let compiled = text.withUTF8 { bytes in
            // PCRE2 rejects a null pointer even for length 0.
            var none: UInt8 = 0
            return withUnsafePointer(to: &none) { empty in
                pcre2_compile_8(
                    bytes.baseAddress ?? empty, bytes.count, options, &errorCode, &errorOffset, nil)
            }
        }
        guard let compiled else {
            throw Problem(message: RegularExpression.message(errorCode), offset: errorOffset)
        }
        return compiled
    }

    private func code(for byteCount: Int) throws(Problem) -> OpaquePointer {
        guard byteCount > Bounds.shortBytesMax else { return code }
        if let watchedCode { return watchedCode }
        let compiled = try Self.compiled(pattern, options | PCRE2_AUTO_CALLOUT)
        watchedCode = compiled
        return compiled
    }

    /// Whether the whole text, in UTF-8, matches.
    ///
    /// - Throws: ``Problem`` if the match exceeds a limit.
    package func matchesWhole(
        _ bytes: UnsafeRawBufferPointer, _ interruption: Interruption = .never
    ) throws(Problem) -> Bool {
        let code = try code(for: bytes.count)
        watch.start(interruption)
        defer { releaseLongBlocks() }
        var none: UInt8 = 0
        let result = withUnsafePointer(to: &none) { empty in
            pcre2_match_8(
                code, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? empty, bytes.count,
                0, PCRE2_ANCHORED | PCRE2_ENDANCHORED, matchData, matchContext)
        }
        if result >= 0 { return true }
        if result == PCRE2_ERROR_NOMATCH { return false }
        // Bytes of a damaged file that are not UTF-8 become replacement characters.
        if (PCRE2_ERROR_UTF8_ERR21...PCRE2_ERROR_UTF8_ERR1).contains(result) {
            return try matchesWhole(String(decoding: bytes, as: UTF8.self), interruption)
        }
        throw Problem(message: RegularExpression.message(result))
    }

    package func matchesWhole(
        _ string: String, _ interruption: Interruption = .never
    ) throws(Problem) -> Bool {
        var text = string
        let result = text.withUTF8 { bytes in
            Result { () throws(Problem) in
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
