import SwiftParser
import SwiftSyntax

/// A public declaration that programs use.
struct PublicSymbol {
    enum Use {
        /// A type by its name, also in the name of a nested one.
        case type
        /// A property or a case.
        case member
        /// A function, an initializer or a subscript. The base name of an initializer is that of
        /// its type.
        case call([Parameter])
        case macro
    }

    struct Parameter {
        let label: String
        let isOptional: Bool
        let isVariadic: Bool
    }

    /// With the types around it and the labels: `ModelContext.fetch(_:batchSize:)`.
    let name: String
    /// The word by which it is used: `fetch`.
    let baseName: String
    let use: Use
    /// Whether a type that conforms declares it, and the module calls it.
    let isRequirement: Bool

    /// The name without the types around it.
    var lastPart: String {
        let start = name.prefix { $0 != "(" }.lastIndex(of: ".").map { name.index(after: $0) }
        return String(name[(start ?? name.startIndex)...])
    }

    /// The types around it.
    var typeName: String { String(name.dropLast(lastPart.count + 1)) }
}

/// Collects the public declarations of source files: types, members, cases and macros.
///
/// Left out are names that begin with `_`, which are for the macros; what is unavailable; operators
/// and what a protocol of the standard library requires; and what a protocol of the module
/// requires, which is listed with the protocol.
final class PublicSymbols: SyntaxVisitor {
    private(set) var symbols: [PublicSymbol] = []
    /// The types around the current declaration; nil for one of another module.
    private var types: [(name: String, isPublic: Bool, isProtocol: Bool)] = []
    private let ownTypes: Set<String>
    /// The protocols and superclasses that the types name.
    private var inherited: [String: Set<String>] = [:]

    /// - Parameter sources: The texts of all files of a module.
    static func of(_ sources: [String]) -> [PublicSymbol] {
        let files = sources.map { Parser.parse(source: $0) }
        let names = TopLevelTypes(viewMode: .sourceAccurate)
        files.forEach(names.walk)
        let collector = PublicSymbols(ownTypes: names.names)
        files.forEach(collector.walk)
        return collector.symbols.filter { !collector.isWitness($0) }
    }

    private func isWitness(_ symbol: PublicSymbol) -> Bool {
        var pending = inherited[symbol.typeName] ?? []
        var passed: Set<String> = []
        while let name = pending.popFirst() {
            guard passed.insert(name).inserted else { continue }
            let requirement = "\(name).\(symbol.lastPart)"
            if symbols.contains(where: { $0.isRequirement && $0.name == requirement }) {
                return true
            }
            pending.formUnion(inherited[name] ?? [])
        }
        return false
    }

    private init(ownTypes: Set<String>) {
        self.ownTypes = ownTypes
        super.init(viewMode: .sourceAccurate)
    }

    private static let requiredByOthers: Set<String> = [
        "hash(into:)", "encode(to:)", "init(from:)", "description", "debugDescription",
        "makeIterator()", "startIndex", "endIndex", "init(stringValue:)", "init(intValue:)",
        "stringValue", "intValue", "enqueue(_:)", "asUnownedSerialExecutor()", "unownedExecutor",
    ]

    // MARK: - Declarations

    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(node.name, node.modifiers, node.attributes, node.inheritanceClause)
    }
    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(node.name, node.modifiers, node.attributes, node.inheritanceClause)
    }
    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(node.name, node.modifiers, node.attributes, node.inheritanceClause)
    }
    override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(
            node.name, node.modifiers, node.attributes, node.inheritanceClause, isProtocol: true)
    }
    override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
        let name = node.extendedType.trimmedDescription
        let outermost = String(name.prefix { $0 != "." && $0 != "<" })
        guard ownTypes.contains(outermost), !node.attributes.isUnavailable else {
            return .skipChildren
        }
        types.append((name, true, false))
        inherit(node.inheritanceClause)
        return .visitChildren
    }
    override func visitPost(_ node: StructDeclSyntax) { leave(node.modifiers) }
    override func visitPost(_ node: ClassDeclSyntax) { leave(node.modifiers) }
    override func visitPost(_ node: EnumDeclSyntax) { leave(node.modifiers) }
    override func visitPost(_ node: ProtocolDeclSyntax) { leave(node.modifiers) }
    override func visitPost(_ node: ExtensionDeclSyntax) {
        let name = node.extendedType.trimmedDescription
        if types.last?.name == name { types.removeLast() }
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        if node.name.text == "~=" {
            if isPublic(node.modifiers) { add(node.name.text, node.name.text, .member) }
            return .skipChildren
        }
        return addCall(
            node.name.text, node.name.text, node.signature.parameterClause, node.modifiers,
            node.attributes)
    }
    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
        addCall(
            "init", types.last?.name.split(separator: ".").last.map(String.init) ?? "init",
            node.signature.parameterClause, node.modifiers, node.attributes)
    }
    override func visit(_ node: SubscriptDeclSyntax) -> SyntaxVisitorContinueKind {
        addCall(
            "subscript", "subscript", node.parameterClause, node.modifiers, node.attributes,
            isSubscript: true)
    }
    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
        guard isPublic(node.modifiers), !node.attributes.isUnavailable else {
            return .skipChildren
        }
        for binding in node.bindings {
            add(binding.pattern.trimmedDescription, binding.pattern.trimmedDescription, .member)
        }
        return .skipChildren
    }
    override func visit(_ node: EnumCaseDeclSyntax) -> SyntaxVisitorContinueKind {
        guard types.allSatisfy(\.isPublic) else { return .skipChildren }
        for element in node.elements { add(element.name.text, element.name.text, .member) }
        return .skipChildren
    }
    override func visit(_ node: TypeAliasDeclSyntax) -> SyntaxVisitorContinueKind {
        let isOfCollection = ["Index", "Indices", "Element"].contains(node.name.text)
        if isPublic(node.modifiers), !isOfCollection { add(node.name.text, node.name.text, .type) }
        return .skipChildren
    }
    override func visit(_ node: AssociatedTypeDeclSyntax) -> SyntaxVisitorContinueKind {
        if isPublic(node.modifiers) { add(node.name.text, node.name.text, .type) }
        return .skipChildren
    }
    override func visit(_ node: MacroDeclSyntax) -> SyntaxVisitorContinueKind {
        let isAttached = node.attributes.names.contains("attached")
        let name = (isAttached ? "@" : "#") + node.name.text
        if isPublic(node.modifiers) { add(name, node.name.text, .macro) }
        return .skipChildren
    }

    // MARK: -

    private func enter(
        _ name: TokenSyntax, _ modifiers: DeclModifierListSyntax, _ attributes: AttributeListSyntax,
        _ inheritance: InheritanceClauseSyntax?, isProtocol: Bool = false
    ) -> SyntaxVisitorContinueKind {
        guard isPublic(modifiers), !attributes.isUnavailable, !name.text.hasPrefix("_") else {
            types.append((name.text, false, false))
            return .skipChildren
        }
        add(name.text, name.text, .type)
        types.append((name.text, true, isProtocol))
        inherit(inheritance)
        return .visitChildren
    }

    private func inherit(_ clause: InheritanceClauseSyntax?) {
        let names = clause?.inheritedTypes.map { inherited in
            String(inherited.type.trimmedDescription.prefix { $0 != "<" })
        }
        inherited[types.map(\.name).joined(separator: "."), default: []].formUnion(names ?? [])
    }

    private func leave(_ modifiers: DeclModifierListSyntax) { types.removeLast() }

    private func isPublic(_ modifiers: DeclModifierListSyntax) -> Bool {
        guard types.allSatisfy(\.isPublic) else { return false }
        if types.last?.isProtocol == true { return true }
        return modifiers.contains {
            ["public", "open"].contains($0.name.text) && $0.detail == nil
        }
    }

    private func addCall(
        _ name: String, _ baseName: String, _ clause: FunctionParameterClauseSyntax,
        _ modifiers: DeclModifierListSyntax, _ attributes: AttributeListSyntax,
        isSubscript: Bool = false
    ) -> SyntaxVisitorContinueKind {
        guard isPublic(modifiers), !attributes.isUnavailable else { return .skipChildren }
        let parameters = clause.parameters.map { parameter in
            let label =
                isSubscript && parameter.secondName == nil ? "_" : parameter.firstName.text
            return PublicSymbol.Parameter(
                label: label, isOptional: parameter.defaultValue != nil,
                isVariadic: parameter.ellipsis != nil)
        }
        // Such a label says that the function is for what macros write.
        guard !parameters.contains(where: { $0.label.hasPrefix("_$") }) else {
            return .skipChildren
        }
        let labels = parameters.map { "\($0.label):" }.joined()
        add("\(name)(\(labels))", baseName, .call(parameters))
        return .skipChildren
    }

    private func add(_ name: String, _ baseName: String, _ use: PublicSymbol.Use) {
        let plain = name.filter { $0 != "`" }
        guard let first = baseName.first, first.isLetter || ["`", "~"].contains(first),
            !Self.requiredByOthers.contains(plain)
        else { return }
        let path = (types.map(\.name) + [plain]).joined(separator: ".")
        guard !symbols.contains(where: { $0.name == path }) else { return }
        symbols.append(
            PublicSymbol(
                name: path, baseName: baseName.filter { $0 != "`" }, use: use,
                isRequirement: types.last?.isProtocol == true))
    }
}

/// The names of the public types that files declare outside of others.
private final class TopLevelTypes: SyntaxVisitor {
    private(set) var names: Set<String> = []

    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind {
        add(node.name, node.modifiers)
    }
    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
        add(node.name, node.modifiers)
    }
    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind {
        add(node.name, node.modifiers)
    }
    override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
        add(node.name, node.modifiers)
    }

    private func add(
        _ name: TokenSyntax, _ modifiers: DeclModifierListSyntax
    ) -> SyntaxVisitorContinueKind {
        let isPublic = modifiers.contains { ["public", "open"].contains($0.name.text) }
        if isPublic, !name.text.hasPrefix("_") { names.insert(name.text) }
        return .skipChildren
    }
}

extension AttributeListSyntax {
    fileprivate var names: [String] {
        compactMap { $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription }
    }

    fileprivate var isUnavailable: Bool {
        contains { attribute in
            guard let attribute = attribute.as(AttributeSyntax.self),
                attribute.attributeName.trimmedDescription == "available"
            else { return false }
            return attribute.arguments?.trimmedDescription.contains("unavailable") == true
        }
    }
}
