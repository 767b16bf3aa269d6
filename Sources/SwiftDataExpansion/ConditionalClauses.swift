import SwiftIfConfig
import SwiftSyntax

// The clauses of an `#if` that the compiler may use. A macro knows the build configuration, but not
// which modules can be imported. What it writes for a clause that depends on that has the clause's
// condition around it, so that the compiler decides.

/// An element of a list that may have `#if` around it.
struct Conditional<Element> {
    let element: Element
    /// The condition under which the compiler uses the element; nil if it uses it in any case.
    let condition: String?
    /// The outermost `#if` whose condition the macro cannot evaluate.
    let chain: IfConfigDeclSyntax?
}

extension MemberBlockItemListSyntax {
    /// The members, with those of the clauses that may be active in place of each `#if`.
    func members(
        in configuration: (any BuildConfiguration)?
    ) -> [Conditional<DeclSyntax>] {
        flatMap { item -> [Conditional<DeclSyntax>] in
            guard let chain = item.decl.as(IfConfigDeclSyntax.self) else {
                return [Conditional(element: item.decl, condition: nil, chain: nil)]
            }
            return chain.elements(in: configuration) { clause in
                clause.as(MemberBlockItemListSyntax.self)?.members(in: configuration)
            }
        }
    }
}

extension AttributeListSyntax {
    /// The attributes, with those of the clauses that may be active in place of each `#if`.
    func attributes(
        in configuration: (any BuildConfiguration)?
    ) -> [Conditional<AttributeSyntax>] {
        flatMap { element -> [Conditional<AttributeSyntax>] in
            switch element {
            case .attribute(let attribute):
                [Conditional(element: attribute, condition: nil, chain: nil)]
            case .ifConfigDecl(let chain):
                chain.elements(in: configuration) { clause in
                    clause.as(AttributeListSyntax.self)?.attributes(in: configuration)
                }
            }
        }
    }
}

extension IfConfigDeclSyntax {
    /// - Parameter elements: The elements of a clause; nil if they are of another kind.
    fileprivate func elements<Element>(
        in configuration: (any BuildConfiguration)?,
        _ elements: (Syntax) -> [Conditional<Element>]?
    ) -> [Conditional<Element>] {
        clauses(in: configuration).flatMap { clause, condition in
            guard let content = clause.elements else { return [Conditional<Element>]() }
            return (elements(Syntax(content)) ?? []).map { inner in
                Conditional(
                    element: inner.element,
                    condition: Self.conjunction([condition, inner.condition].compactMap { $0 }),
                    chain: condition == nil ? inner.chain : self)
            }
        }
    }

    /// The clauses that may be active, each with its condition; nil for one that is active.
    private func clauses(
        in configuration: (any BuildConfiguration)?
    ) -> [(IfConfigClauseSyntax, String?)] {
        var found: [(IfConfigClauseSyntax, String?)] = []
        /// The unknown conditions of earlier clauses, which are false if a later one is active.
        var unknown: [String] = []
        for clause in clauses {
            let isActive = clause.condition.map { $0.isTrue(in: configuration) } ?? true
            if isActive == false { continue }
            var conditions = unknown.map { "!(\($0))" }
            if isActive == nil, let condition = clause.condition {
                conditions.append(condition.trimmedDescription)
                unknown.append(condition.trimmedDescription)
            }
            found.append((clause, Self.conjunction(conditions)))
            if isActive == true { break }
        }
        return found
    }

    /// The condition that all of several are true; nil for none.
    private static func conjunction(_ conditions: [String]) -> String? {
        guard conditions.count > 1 else { return conditions.first }
        return conditions.map { "(\($0))" }.joined(separator: " && ")
    }
}

extension ExprSyntax {
    /// Whether the condition of an `#if` is true; nil if that is not known.
    fileprivate func isTrue(in configuration: (any BuildConfiguration)?) -> Bool? {
        guard let configuration else { return nil }
        let condition = KnownImports().rewrite(self).as(ExprSyntax.self) ?? self
        let result = IfConfigRegionState.evaluating(condition, in: configuration)
        if result.diagnostics.contains(where: { $0.diagMessage.severity == .error }) { return nil }
        return result.state == .active
    }
}

/// Replaces `canImport` of the modules without which a model cannot be declared.
private final class KnownImports: SyntaxRewriter {
    private static let modules = ["Foundation", "Observation", "Swift", "SwiftData"]

    override func visit(_ call: FunctionCallExprSyntax) -> ExprSyntax {
        guard call.calledExpression.trimmedDescription == "canImport",
            let module = call.arguments.first, call.arguments.count == 1,
            Self.modules.contains(module.expression.trimmedDescription)
        else { return ExprSyntax(call) }
        return ExprSyntax(BooleanLiteralExprSyntax(literal: .keyword(.true)))
    }
}
