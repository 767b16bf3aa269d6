@testable import LarderSQL
@testable import LarderStore

/// A row of the history.
struct RecordedChange: CustomStringConvertible {
    let kind: ChangeRun.Kind
    let entityName: String
    let keys: ClosedRange<Int64>
    /// nil except for updates.
    let properties: Set<String>?

    /// - Parameter row: Kind, entity, first and last key, properties.
    init?(_ row: [SQLValue]) {
        guard case .integer(let number) = row[0], let kind = ChangeRun.Kind(rawValue: number),
            case .text(let entityName) = row[1], case .integer(let first) = row[2],
            case .integer(let last) = row[3], first <= last
        else { return nil }
        self.kind = kind
        self.entityName = entityName
        keys = first...last
        switch row[4] {
        case .text(let names): properties = Set(names.split(separator: ",").map { String($0) })
        default: properties = nil
        }
        guard (properties == nil) == (kind != .updated) else { return nil }
    }

    var description: String {
        let range =
            keys.count == 1 ? "\(keys.lowerBound)" : "\(keys.lowerBound)-\(keys.upperBound)"
        return "\(kind) \(entityName) \(range)"
            + (properties.map { " " + $0.sorted().joined(separator: ",") } ?? "")
    }
}
