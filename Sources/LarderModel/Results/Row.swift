/// One row of a result that is not a complete object, with its values in column order.
public struct Row: Hashable, Sendable {
    public var names: [String]
    public var values: [Value]

    public init(names: [String], values: [Value]) {
        self.names = names
        self.values = values
    }

    /// The value of a column; nil if the row has no such column.
    public subscript(name: String) -> Value? {
        guard let index = names.firstIndex(of: name), index < values.count else { return nil }
        return values[index]
    }
}
