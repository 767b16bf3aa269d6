public import SwiftData

/// The values of the models that match an observed fetch at one moment, and how they differ from
/// those before.
public struct FetchedValues<Value: Equatable & Sendable>: Equatable, Sendable {
    /// The models, in the order of the fetch.
    public let identifiers: [PersistentIdentifier]
    /// The value of each model, in the same order.
    public let values: [Value]
    /// The models that are new in the result, in its order; all of the first result.
    public let inserted: [PersistentIdentifier]
    /// The models that are not in the result any more, in the order before.
    public let deleted: [PersistentIdentifier]
    /// The models with another value than before, in the order of the result.
    public let updated: [PersistentIdentifier]

    init(_ rows: [(identifier: PersistentIdentifier, value: Value)], after last: Self?) {
        identifiers = rows.map(\.identifier)
        values = rows.map(\.value)
        let before = last.map { last in
            Dictionary(
                zip(last.identifiers, last.values), uniquingKeysWith: { first, _ in first })
        }
        inserted = identifiers.filter { before?[$0] == nil }
        let current = Set(identifiers)
        deleted = last?.identifiers.filter { !current.contains($0) } ?? []
        updated = rows.filter { row in before?[row.identifier].map { $0 != row.value } ?? false }
            .map(\.identifier)
    }

    /// Whether the result shows the same as another one, whatever preceded them.
    func hasSameRows(as other: Self) -> Bool {
        identifiers == other.identifiers && values == other.values
    }
}
