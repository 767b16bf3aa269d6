import LarderModel
import LarderQuery

extension OperandType {
    /// The kind of a result column for values of this type.
    var columnKind: Column.Kind {
        switch self {
        case .attribute(let type): .attribute(type)
        case .object(let entityName): .object(entityName: entityName)
        }
    }
}
