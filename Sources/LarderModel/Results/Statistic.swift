/// One metric of `stats`.
public struct Statistic: Hashable, Sendable {
    public var name: String
    public var value: Value

    package init(_ name: String, _ value: Value) {
        self.name = name
        self.value = value
    }
}
