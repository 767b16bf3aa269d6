/// A position in the history of the stores of a container.
public protocol HistoryToken: Comparable, Codable, Hashable, Identifiable, Sendable {
    associatedtype TokenType: Codable, Hashable, Sendable

    var tokenValue: TokenType? { get }
}

/// A position in the history of stores of this module: for each store, after one transaction and
/// before the next.
///
/// A store that a token does not name is at its beginning. Tokens are values to compare, and to
/// store as JSON. Those of one container are ordered as its transactions are.
public struct DefaultHistoryToken: HistoryToken {
    public typealias TokenType = [String: Int64]

    /// The number of the last transaction before the position, by the identifier of its store.
    private let numbers: [String: Int64]
    /// Identifies the continuous history of each store, of which a restored backup begins another.
    private let epochs: [String: Int64]

    init(numbers: [String: Int64], epochs: [String: Int64]) {
        self.numbers = numbers
        self.epochs = epochs
    }

    public var tokenValue: [String: Int64]? { numbers }

    public var id: Int { hashValue }

    /// The position in one store; nil if it is not named.
    func number(in store: String) -> Int64? { numbers[store] }

    func epoch(in store: String) -> Int64? { epochs[store] }

    var storeIdentifiers: [String] { numbers.keys.sorted() }

    /// The token with another position in one store.
    func moved(to number: Int64, epoch: Int64, in store: String) -> DefaultHistoryToken {
        var (numbers, epochs) = (numbers, epochs)
        numbers[store] = number
        epochs[store] = epoch
        return DefaultHistoryToken(numbers: numbers, epochs: epochs)
    }

    public static func < (left: Self, right: Self) -> Bool {
        for store in Set(left.numbers.keys).union(right.numbers.keys).sorted() {
            let (first, second) = (left.position(in: store), right.position(in: store))
            if first != second { return first < second }
        }
        return false
    }

    func position(in store: String) -> (epoch: Int64, number: Int64) {
        (epochs[store] ?? -1, numbers[store] ?? -1)
    }

    // MARK: - Coding

    private enum CodingKeys: String, CodingKey { case tokenValue, epochs }

    /// - Throws: `DecodingError` if a number is negative, or a member is missing.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        numbers = try container.decode([String: Int64].self, forKey: .tokenValue)
        epochs = try container.decode([String: Int64].self, forKey: .epochs)
        guard numbers.count <= Self.storesMax, numbers.values.allSatisfy({ $0 >= 0 }),
            Set(numbers.keys) == Set(epochs.keys)
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .tokenValue, in: container,
                debugDescription: "the history token is malformed; use one that a history has")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(numbers, forKey: .tokenValue)
        try container.encode(epochs, forKey: .epochs)
    }

    /// More stores than a container has.
    private static let storesMax = 10_000
}
