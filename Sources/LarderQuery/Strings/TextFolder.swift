import LarderModel

/// Folds many texts by the rules of `[c]` and `[d]`, in memory that is used again for each text.
///
/// Used by one thread at a time.
package final class TextFolder {
    package let options: Comparison.Options
    private let table: FoldingTable?
    private var buffer: [UInt8] = []

    /// Longer texts are folded by `String.folded`, which can be interrupted.
    private static let tableBytesMax = 1 << 20

    package init(_ options: Comparison.Options) {
        self.options = options
        table = FoldingTable.table(
            caseInsensitive: options.contains(.caseInsensitive),
            diacriticInsensitive: options.contains(.diacriticInsensitive))
    }

    /// The folded form of a text in UTF-8 and NFC; nil if it is the text itself.
    ///
    /// The slice must be released before the next call, which writes to the same memory.
    package func folded(
        _ text: Span<UInt8>, _ interruption: Interruption = .never
    ) -> ArraySlice<UInt8>? {
        guard table != nil else { return nil }
        guard let count = foldSimple(text) else {
            return Array(text.string.folded(options, interruption).utf8)[...]
        }
        let isUnchanged = count == text.count && (0..<count).allSatisfy { buffer[$0] == text[$0] }
        return isUnchanged ? nil : buffer[..<count]
    }

    /// Passes the folded form of a text of simple scalars; nil for other texts.
    func withSimple<Result>(
        _ text: Span<UInt8>, _ body: (Span<UInt8>) throws(LarderError) -> Result
    ) throws(LarderError) -> Result? {
        guard let count = foldSimple(text) else { return nil }
        let folded = buffer
        return try body(folded.span.extracting(..<count))
    }

    private func foldSimple(_ text: Span<UInt8>) -> Int? {
        guard text.count <= Self.tableBytesMax else { return nil }
        return table?.fold(text, into: &buffer)
    }
}
