import SwiftParser
import SwiftSyntax

/// The symbols that source files use: names, and calls with their labels.
final class SymbolUses: SyntaxVisitor {
    private var types: Set<String> = []
    private var members: Set<String> = []
    private var macros: Set<String> = []
    /// Calls and subscripts by their base name; "" for `.init(…)`. A label is nil for a trailing
    /// closure, which may have any.
    private var calls: [String: Set<[String?]>] = [:]
    /// Calls of types, of which some are parameters of generic functions.
    private var genericCalls: Set<[String?]> = []
    /// Declarations, which implement requirements of protocols.
    private var declarations: Set<String> = []

    init(_ sources: [String]) {
        super.init(viewMode: .sourceAccurate)
        for source in sources { walk(Parser.parse(source: source)) }
    }

    func contains(_ symbol: PublicSymbol) -> Bool {
        if symbol.isRequirement, declarations.contains(symbol.lastPart) {
            return true
        }
        switch symbol.use {
        case .type: return types.contains(symbol.baseName)
        case .member: return members.contains(symbol.baseName)
        case .macro: return macros.contains(symbol.baseName)
        case .call(let parameters):
            var found = calls[symbol.baseName] ?? []
            if symbol.lastPart.hasPrefix("init(") {
                found.formUnion(calls["init"] ?? [])
                if symbol.isRequirement { found.formUnion(genericCalls) }
            }
            return found.contains { Self.fits($0[...], parameters[...]) }
        }
    }

    /// Whether a call may be one of a declaration.
    private static func fits(
        _ labels: ArraySlice<String?>, _ parameters: ArraySlice<PublicSymbol.Parameter>
    ) -> Bool {
        guard let parameter = parameters.first else { return labels.isEmpty }
        let rest = parameters.dropFirst()
        if parameter.isOptional || parameter.isVariadic, fits(labels, rest) { return true }
        guard let label = labels.first, label == nil || label == parameter.label else {
            return false
        }
        var left = labels.dropFirst()
        while true {
            if fits(left, rest) { return true }
            guard parameter.isVariadic, left.first == "_" else { return false }
            left = left.dropFirst()
        }
    }

    // MARK: - Names

    override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
        types.insert(node.name.text)
        return .visitChildren
    }
    override func visit(_ node: MemberTypeSyntax) -> SyntaxVisitorContinueKind {
        types.insert(node.name.text)
        return .visitChildren
    }
    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        let name = node.baseName.text.filter { $0 != "`" }
        if name.first?.isUppercase == true { types.insert(name) }
        members.insert(name)
        return .visitChildren
    }
    override func visit(_ node: KeyPathPropertyComponentSyntax) -> SyntaxVisitorContinueKind {
        members.insert(node.declName.baseName.text)
        return .visitChildren
    }
    override func visit(_ node: BinaryOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        members.insert(node.operator.text)
        return .visitChildren
    }
    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind {
        macros.insert(node.attributeName.trimmedDescription)
        return .visitChildren
    }
    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
        macros.insert(node.macroName.text)
        return .visitChildren
    }
    override func visit(_ node: MacroExpansionDeclSyntax) -> SyntaxVisitorContinueKind {
        macros.insert(node.macroName.text)
        return .visitChildren
    }

    // MARK: - Calls

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        var called = node.calledExpression
        if let generic = called.as(GenericSpecializationExprSyntax.self) {
            called = generic.expression
        }
        let name =
            called.as(MemberAccessExprSyntax.self)?.declName.baseName.text
            ?? called.as(DeclReferenceExprSyntax.self)?.baseName.text
        if let name {
            let closures = node.trailingClosure == nil ? [] : [String?.none]
            let others = node.additionalTrailingClosures.map { Optional($0.label.text) }
            add(name, labels(node.arguments) + closures + others)
        }
        return .visitChildren
    }
    override func visit(_ node: SubscriptCallExprSyntax) -> SyntaxVisitorContinueKind {
        add("subscript", labels(node.arguments))
        return .visitChildren
    }

    private func labels(_ arguments: LabeledExprListSyntax) -> [String?] {
        arguments.map { $0.label?.text ?? "_" }
    }

    private func add(_ name: String, _ labels: [String?]) {
        calls[name.filter { $0 != "`" }, default: []].insert(labels)
        if name.first?.isUppercase == true { genericCalls.insert(labels) }
    }

    // MARK: - Declarations

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        declare(node.name.text, node.signature.parameterClause)
        return .visitChildren
    }
    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
        declare("init", node.signature.parameterClause)
        return .visitChildren
    }
    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
        for binding in node.bindings {
            declarations.insert(binding.pattern.trimmedDescription)
        }
        return .visitChildren
    }
    override func visit(_ node: TypeAliasDeclSyntax) -> SyntaxVisitorContinueKind {
        declarations.insert(node.name.text)
        return .visitChildren
    }
    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind {
        declarations.insert(node.name.text)
        return .visitChildren
    }

    private func declare(_ name: String, _ clause: FunctionParameterClauseSyntax) {
        let labels = clause.parameters.map { "\($0.firstName.text):" }.joined()
        declarations.insert("\(name)(\(labels))")
    }
}
