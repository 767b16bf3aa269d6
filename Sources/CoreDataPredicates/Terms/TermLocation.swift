internal import Foundation
package import LarderModel
internal import LarderQuery
internal import LarderStore

// A store gets trees, not format strings, so that its error about a name or a type has no column.
// The columns are found after an error alone: the tree is made and typed again, with the positions
// of its parts in the formats.

/// Checks the names and types of queries of an entity, for the columns of errors.
package struct TermLocation {
    private let schema: Schema
    private let entityName: String

    package init(_ schema: Schema, entityName: String) {
        self.schema = schema
        self.entityName = entityName
    }

    /// The error of a use of a predicate, with its column if the predicate comes from a format.
    package func locating(_ error: LarderError, in predicate: NSPredicate?) -> LarderError {
        guard let predicate else { return error }
        return located(error) { (builder) throws(LarderError) in
            let tree = try builder.tree(of: predicate)
            return { (evaluator) throws(LarderError) in _ = try evaluator.predicate(tree) }
        }
    }

    /// The error of a use of an expression, with its column if the expression comes from a format.
    package func locating(_ error: LarderError, in expression: NSExpression?) -> LarderError {
        guard let expression else { return error }
        return located(error) { (builder) throws(LarderError) in
            let tree = try builder.tree(of: expression)
            return { (evaluator) throws(LarderError) in _ = try evaluator.expression(tree) }
        }
    }

    private typealias Check = (Evaluator) throws(LarderError) -> Void

    private func located(
        _ error: LarderError, _ make: (inout TermBuilder) throws(LarderError) -> Check
    ) -> LarderError {
        guard error.column == nil else { return error }
        var builder = TermBuilder(recordsSources: true)
        do throws(LarderError) {
            let check = try make(&builder)
            guard !builder.sourceMaps.isEmpty else { return error }
            try check(
                Evaluator(
                    schema: schema, entityName: entityName,
                    parameters: QueryParameters(arguments: builder.arguments), now: Date(),
                    matcher: Store.makeMatcher(), sourceMaps: builder.sourceMaps))
            return error
        } catch let located {
            // In a store, where constants are arguments, the same mistake may have other words.
            return located.code == error.code && located.column != nil ? located : error
        }
    }
}

extension TermLocation? {
    /// Runs a use of a predicate, whose error gets its column.
    package func locating<Result>(
        _ predicate: NSPredicate?, _ body: () throws(LarderError) -> Result
    ) throws(LarderError) -> Result {
        do throws(LarderError) { return try body() } catch {
            throw self?.locating(error, in: predicate) ?? error
        }
    }

    /// Runs a use of an expression, whose error gets its column.
    package func locating<Result>(
        _ expression: NSExpression, _ body: () throws(LarderError) -> Result
    ) throws(LarderError) -> Result {
        do throws(LarderError) { return try body() } catch {
            throw self?.locating(error, in: expression) ?? error
        }
    }
}
