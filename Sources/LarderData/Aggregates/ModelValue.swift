import Foundation
internal import LarderClient
internal import LarderModel
import SwiftData

/// A value of a model that the store computes: a property, or an expression.
struct ModelValue<Model: PersistentModel> {
    private enum Source {
        case property(AnyKeyPath)
        case expression((Int) throws(LarderError) -> BoundExpression)
    }

    private let source: Source

    init(_ keyPath: AnyKeyPath) { source = .property(keyPath) }

    init<Output>(_ expression: Expression<Model, Output>) {
        source = .expression { first throws(LarderError) in
            try BoundExpression(expression, argumentsFrom: first)
        }
    }

    /// The expression of the store; its arguments are appended.
    func term(_ arguments: inout [QueryArgument]) throws(LarderError) -> QueryTerm {
        switch source {
        case .property(let keyPath):
            switch Model.property(at: keyPath) {
            case .identifier: return .tree(.object)
            case .named(let name): return .tree(.keyPath(.object, [name]))
            case nil:
                throw LarderError(
                    .unknownProperty, "\(Model.entityName) has no property at \(keyPath)",
                    hint: "write a path of several steps as an #Expression")
            }
        case .expression(let translate):
            let bound = try translate(arguments.count)
            arguments += bound.arguments
            return .tree(bound.expression)
        }
    }
}
