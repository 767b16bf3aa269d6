public import Foundation
internal import LarderClient
internal import LarderModel
public import SwiftData

/// A new value for a property of each model that an update selects.
///
/// Unchecked: key paths of properties and expressions are immutable.
public struct ModelAssignment<Model: PersistentModel>: @unchecked Sendable {
    private let keyPath: AnyKeyPath
    private let value: ModelValue<Model>

    /// Sets the property to an expression, which reads each model as it was before.
    public static func set<Member>(
        _ keyPath: KeyPath<Model, Member>, to expression: Expression<Model, Member>
    ) -> Self { Self(keyPath: keyPath, value: ModelValue(expression)) }

    func assignment(_ arguments: inout [QueryArgument]) throws(LarderError) -> PropertyAssignment {
        guard case .named(let name)? = Model.property(at: keyPath) else {
            throw LarderError(
                .unknownProperty, "\(Model.entityName) has no property at \(keyPath)")
        }
        return PropertyAssignment(name, try value.term(&arguments))
    }
}
