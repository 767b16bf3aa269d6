/// One row of an answer that is not a whole object: values in the order of their columns.
public struct Row: Hashable, Sendable {
    public var names: [String]
    public var values: [Value]

    public init(names: [String], values: [Value]) {
        self.names = names
        self.values = values
    }

    /// The value of a column; nil where the row has no such column.
    public subscript(name: String) -> Value? {
        guard let place = names.firstIndex(of: name), place < values.count else { return nil }
        return values[place]
    }
}
