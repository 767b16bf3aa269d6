import FoundationEssentials
public import LarderModel

/// Stands for LarderModel's until that is merged.
public struct Row: Hashable, Sendable {
    public var names: [String]
    public var values: [Value]
    public subscript(name: String) -> Value? { names.firstIndex(of: name).map { values[$0] } }
}
extension Batch {
    func records(store: UUID) -> [Record] { [] }
    func rows(store: UUID) -> [Row] { [] }
}
