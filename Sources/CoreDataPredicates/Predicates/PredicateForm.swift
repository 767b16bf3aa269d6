package import LarderModel

/// How a predicate was made.
package enum PredicateForm {
    package typealias Block = (Any?, [String: Any]?) -> Bool

    case parsed(ParsedFormat)
    /// A format with an error.
    case failed(LarderError, format: String)
    case value(Bool)
    case block(Block)
    case comparison(ComparisonForm)
    case compound(NSCompoundPredicate.LogicalType, [NSPredicate])
    case substituted(NSPredicate, [String: Any])

    init(format: String, _ arguments: [Any?]) {
        do throws(LarderError) {
            self = .parsed(try ParsedFormat(predicate: format, arguments))
        } catch {
            self = .failed(error, format: format)
        }
    }

    func tree(_ builder: inout TermBuilder) throws(LarderError) -> QueryExpression {
        switch self {
        case .parsed(let format): return try builder.bind(format)
        case .failed(let error, _): throw error
        case .value(let value): return .constant(.bool(value))
        case .block:
            throw LarderError(
                .unsupportedPredicate, "a store cannot evaluate the closure of a predicate",
                hint: "fetch with the other conditions, and filter the objects by evaluate(with:)")
        case .comparison(let comparison): return try comparison.tree(&builder)
        case .compound(let type, let predicates):
            var trees: [QueryExpression] = []
            for predicate in predicates { trees.append(try builder.tree(of: predicate)) }
            switch type {
            case .and: return trees.isEmpty ? .constant(.bool(true)) : .and(trees)
            case .or: return trees.isEmpty ? .constant(.bool(false)) : .or(trees)
            case .not:
                guard trees.count == 1 else { throw Self.notOperand(count: trees.count) }
                return .not(trees[0])
            }
        case .substituted(let predicate, let values):
            return try builder.tree(of: predicate, replacing: values)
        }
    }

    private static func notOperand(count: Int) -> LarderError {
        LarderError(
            .malformedPredicate, "NOT takes one predicate; \(count) were given",
            hint: "join them with AND or OR first")
    }

    /// Whether only objects in memory can be tested.
    var hasBlock: Bool {
        switch self {
        case .block: true
        case .compound(_, let predicates): predicates.contains { $0.form.hasBlock }
        case .substituted(let predicate, _): predicate.form.hasBlock
        case .parsed, .failed, .value, .comparison: false
        }
    }

    func holds(
        for object: Any?, _ bindings: [String: Any]?, of predicate: NSPredicate
    ) throws(LarderError) -> Bool {
        switch self {
        case .block(let block): return block(object, bindings)
        case .substituted(let predicate, let values) where predicate.form.hasBlock:
            let all = values.merging(bindings ?? [:]) { inner, _ in inner }
            return try predicate.form.holds(for: object, all, of: predicate)
        case .compound(let type, let predicates) where hasBlock:
            if type == .not, predicates.count != 1 {
                throw Self.notOperand(count: predicates.count)
            }
            for part in predicates {
                let holds = try part.form.holds(for: object, bindings, of: part)
                switch type {
                case .not: return !holds
                case .and: if !holds { return false }
                case .or: if holds { return true }
                }
            }
            return type == .and
        default:
            let bound =
                bindings.map { predicate.withSubstitutionVariables($0) } ?? predicate
            let term = try BoundTerm(bound)
            guard let queried = object as? any QueriedObject else {
                let plain = try PlainObject(object, for: term)
                return try plain.location.locating(bound) { () throws(LarderError) in
                    try plain.satisfies(term)
                }
            }
            return try queried.termLocation.locating(bound) { () throws(LarderError) in
                try queried.satisfies(term)
            }
        }
    }

    func text(of predicate: NSPredicate) -> String {
        if case .failed(_, let format) = self { return format }
        if hasBlock { return "BLOCKPREDICATE(\(ObjectIdentifier(predicate)))" }
        var builder = TermBuilder(isInline: true)
        do throws(LarderError) {
            return try tree(&builder).format
        } catch {
            return error.message
        }
    }
}
