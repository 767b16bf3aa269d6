public import FoundationEssentials

/// A position in the history of a store: after one transaction and before the next.
///
/// Tokens are opaque values to store and to pass on. Those of one store are ordered as its
/// transactions are. A token is valid as long as the history has every later transaction; reading
/// after another token fails with `malformedToken`, `foreignToken`, `futureToken` or
/// `tokenExpired`.
public struct HistoryToken: Hashable, Sendable {
    /// The store's UUID.
    public let store: UUID
    /// Identifies one continuous history of the store: a restored backup begins another one. Later
    /// ones are greater.
    public let epoch: Int64
    /// The number of the last transaction before the position; 0 is the beginning.
    public let number: Int64

    /// - Parameter number: Not negative.
    public init(store: UUID, epoch: Int64, number: Int64) {
        precondition(number >= 0, "transactions are numbered from 1")
        self.store = store
        self.epoch = epoch
        self.number = number
    }
}

extension HistoryToken: Comparable {
    public static func < (left: HistoryToken, right: HistoryToken) -> Bool {
        if left.store != right.store { return left.store < right.store }
        return (left.epoch, left.number) < (right.epoch, right.number)
    }
}

extension HistoryToken: CustomStringConvertible {
    /// The text form: the store's UUID, the epoch and the number, as `UUID-e123-n45`.
    public var description: String { "\(store.uuidString)-e\(epoch)-n\(number)" }

    /// Parses the text form.
    ///
    /// - Throws: `malformedToken`.
    public init(_ text: String) throws(LarderError) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.textBytesMax, parts.count == 7,
            let store = UUID(uuidString: parts[..<5].joined(separator: "-")),
            let epoch = Self.number(parts[5], after: "e"),
            let number = Self.number(parts[6], after: "n")
        else {
            throw LarderError(
                .malformedToken, "the history token is malformed",
                hint: "use a token that `history`, `watch` or a save has returned")
        }
        self.init(store: store, epoch: epoch, number: number)
    }

    private static let textBytesMax = 80

    private static func number(_ part: Substring, after letter: Character) -> Int64? {
        let digits = part.dropFirst()
        guard part.first == letter, digits.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return Int64(digits)
    }
}

extension HistoryToken: Codable {
    /// Decodes the text form.
    public init(from decoder: any Decoder) throws {
        try self.init(try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension HistoryToken {
    /// Checks that the history of a store continues after the token. A token of an earlier epoch
    /// is valid if the backup contained its transaction.
    ///
    /// - Parameters:
    ///   - deleted: The number of the last transaction that was deleted.
    ///   - last: The number of the last transaction.
    /// - Throws: `foreignToken`, `futureToken` or `tokenExpired`.
    package func check(
        in description: StoreDescription, deleted: Int64, last: Int64
    ) throws(LarderError) {
        guard store == description.identifier else {
            throw LarderError(
                .foreignToken,
                "the history token belongs to the store \(store.uuidString), and this is "
                    + "\(description.identifier.uuidString)",
                hint: "connect to the store that returned the token")
        }
        let epoch = description.historyEpoch
        guard self.epoch <= epoch, self.epoch < epoch || number <= last else {
            throw LarderError(
                .futureToken, "the history token is newer than the last transaction",
                hint: "the store may have been replaced by an older copy; read it completely, and "
                    + "then its history after the current token")
        }
        let isContained =
            self.epoch == epoch
            || description.earlierEpochs.contains { $0.epoch == self.epoch && number <= $0.last }
        guard isContained, number >= deleted else {
            throw LarderError(
                .tokenExpired,
                isContained
                    ? "transactions after the history token have been deleted"
                    : "the store was restored from a backup that does not contain the transaction "
                        + "of the history token",
                hint: "read the objects again, and then the history after the current token")
        }
    }
}

/// A history whose first part a restored store has in common with the original.
package struct EarlierEpoch: Hashable, Sendable {
    package var epoch: Int64
    /// The number of the last transaction in the backup.
    package var last: Int64

    package init(epoch: Int64, last: Int64) {
        self.epoch = epoch
        self.last = last
    }
}
