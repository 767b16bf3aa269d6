internal import Foundation
package import LarderModel
internal import LarderQuery

/// How an expression was made.
package indirect enum ExpressionForm {
    case parsed(ParsedFormat)
    /// A format with an error.
    case failed(LarderError)
    case constant(Any?)
    case object
    case variable(String)
    case keyPath(String)
    case function(String, [NSExpression])
    case list([NSExpression])
    case subquery(NSExpression, String, NSPredicate)
    case conditional(NSPredicate, NSExpression, NSExpression)

    init(format: String, _ arguments: [Any?]) {
        do throws(LarderError) {
            self = .parsed(try ParsedFormat(expression: format, arguments))
        } catch {
            self = .failed(error)
        }
    }

    var type: NSExpression.ExpressionType {
        switch self {
        case .constant: .constantValue
        case .object: .evaluatedObject
        case .variable: .variable
        case .keyPath: .keyPath
        case .list: .aggregate
        case .subquery: .subquery
        case .conditional: .conditional
        case .parsed(let format): format.type
        case .function, .failed: .function
        }
    }

    func tree(_ builder: inout TermBuilder) throws(LarderError) -> QueryExpression {
        switch self {
        case .parsed(let format): return try builder.bind(format)
        case .failed(let error): throw error
        case .constant(let value): return try builder.value(value)
        case .object: return .object
        case .variable(let name): return try builder.variable(name)
        case .keyPath(let path): return try PredicateFormat.path(path)
        case .function(let name, let operands):
            let function = try FormatFunction.supported(name)
            if let aggregate = function.aggregate, operands.count == 1,
                let elements = Self.constants(operands[0])
            {
                return .constant(try aggregate.value(of: elements))
            }
            var trees: [QueryExpression] = []
            for operand in operands { trees.append(try builder.operand(operand)) }
            // The number of the objects of a request; elsewhere it is an error.
            if case .aggregate(let aggregate) = function, trees == [.object] {
                return .collection(aggregate, .object)
            }
            return try function.call(trees, name: name)
        case .list(let elements): return try Self.list(elements, &builder)
        case .subquery(let collection, let variable, let predicate):
            let collection = try builder.tree(of: collection)
            let name = variable.hasPrefix("$") ? String(variable.dropFirst()) : variable
            return .subquery(
                collection, variable: name,
                predicate: try builder.tree(of: predicate, declaring: name))
        case .conditional(let predicate, let isTrue, let isFalse):
            return .function(
                .conditional,
                [
                    try builder.tree(of: predicate), try builder.operand(isTrue),
                    try builder.operand(isFalse),
                ])
        }
    }

    /// The elements of a list of constants; nil for any other expression.
    private static func constants(_ expression: NSExpression) -> [Any]? {
        switch expression.form {
        case .constant(let value):
            return value.flatMap(QueryArgument.elements)
        case .list(let elements):
            var constants: [Any] = []
            for case .constant(let value) in elements.map(\.form) {
                constants.append(value ?? NSNull())
            }
            return constants.count == elements.count ? constants : nil
        default: return nil
        }
    }

    /// A list of constants is one argument.
    private static func list(
        _ elements: [NSExpression], _ builder: inout TermBuilder
    ) throws(LarderError) -> QueryExpression {
        if let constants = constants(NSExpression(.list(elements))) {
            return try builder.value(constants)
        }
        var trees: [QueryExpression] = []
        for element in elements { trees.append(try builder.tree(of: element)) }
        return .list(trees)
    }

    /// The expression as a format string, or its error.
    var text: String {
        var builder = TermBuilder(isInline: true)
        do throws(LarderError) {
            return try tree(&builder).format
        } catch {
            return error.message
        }
    }
}

extension FormatFunction {
    /// The aggregate that the function is for one operand.
    fileprivate var aggregate: AggregateFunction? {
        switch self {
        case .aggregate(let function), .either(_, let function): function
        case .scalar, .unsupported: nil
        }
    }
}

extension PredicateFormat {
    /// The tree of a key path.
    ///
    /// - Throws: `malformedPredicate` for a text that is none.
    package static func path(_ text: String) throws(LarderError) -> QueryExpression {
        if text.uppercased() == "SELF" { return .object }
        do throws(LarderError) {
            return try parseExpression("%K", arguments: [.value(.string(text))])
                .expression.withoutObjectID
        } catch {
            let name = text.prefix(Limits.nameBytesMax)
            throw LarderError(.malformedPredicate, "`\(name)` is not a key path")
        }
    }
}

extension QueryExpression {
    /// The object itself in place of its property `objectID`.
    var withoutObjectID: QueryExpression {
        guard case .keyPath(let base, let steps) = self, steps.last == "objectID" else {
            return self
        }
        return steps.count == 1 ? base : .keyPath(base, steps.dropLast())
    }
}
