import SwiftDiagnostics
import SwiftSyntax

/// The declaration to which `@Entity` is attached, as far as the expansion needs it.
struct RecordDeclaration {
    let typeName: String
    /// The access level for members, with a space after it; empty for the default.
    let access: String
    /// The type of `id` without the question mark.
    let identifierType: String
    let properties: [PropertyDeclaration]
    let entityNameLiteral: String
    /// The arguments of the macro apart from the name, as source text.
    let otherArguments: [String]
    /// The lists of key paths of `#Unique`, `#Index` and `#Search`, as source text.
    let uniqueConstraints: [String]
    let indexes: [String]
    let searches: [String]

    /// Nil if an error was reported.
    init?(
        _ declaration: some DeclGroupSyntax, _ node: AttributeSyntax,
        reporting report: (Diagnostic) -> Void
    ) {
        var isValid = true
        func fail(_ node: some SyntaxProtocol, _ problem: RecordProblem) {
            isValid = false
            report(Diagnostic(node: node, message: problem))
        }
        guard let structure = declaration.as(StructDeclSyntax.self) else {
            fail(node, .notAStruct)
            return nil
        }
        if let parameters = structure.genericParameterClause { fail(parameters, .generic) }
        let name = structure.name.text
        typeName = name
        access = structure.modifiers.access

        var properties: [PropertyDeclaration] = []
        var identifierType: String?
        for variable in structure.memberBlock.members.compactMap({
            $0.decl.as(VariableDeclSyntax.self)
        }) where variable.isStored {
            do throws(LocatedProblem) {
                let property = try PropertyDeclaration(variable, access: access)
                if property.name == "id" {
                    identifierType = try property.identifierType(variable)
                } else if !property.isTransient {
                    properties.append(property)
                }
            } catch {
                fail(error.node, error.problem)
            }
        }
        if isValid, identifierType == nil { fail(structure.name, .withoutIdentifier(name)) }
        self.properties = properties
        self.identifierType = identifierType ?? ""

        let arguments = node.arguments?.as(LabeledExprListSyntax.self).map(Array.init) ?? []
        let unlabelled = arguments.first { $0.label == nil }?.expression
        if let unlabelled, unlabelled.as(StringLiteralExprSyntax.self)?.isPlain != true {
            fail(unlabelled, .nameIsNotALiteral)
        }
        entityNameLiteral = unlabelled?.trimmedDescription ?? "\"\(name)\""
        otherArguments = arguments.filter { $0.label != nil }.map {
            "\($0.label?.text ?? ""): \($0.expression.trimmedDescription)"
        }
        uniqueConstraints = structure.keyPathLists(of: "Unique", root: name)
        indexes = structure.keyPathLists(of: "Index", root: name)
        searches = structure.keyPathLists(of: "Search", root: name)
        guard isValid else { return nil }
    }
}

extension StructDeclSyntax {
    /// The arguments of a freestanding macro in the struct, with complete key paths.
    fileprivate func keyPathLists(of macro: String, root: String) -> [String] {
        memberBlock.members.compactMap { $0.decl.as(MacroExpansionDeclSyntax.self) }
            .filter { $0.macroName.text == macro }
            .flatMap { $0.arguments.map(\.expression) }
            .compactMap { $0.as(ArrayExprSyntax.self) }
            .map { list in
                let keyPaths = list.elements.map { element in
                    let text = element.expression.trimmedDescription
                    return text.hasPrefix("\\.") ? "\\\(root)\(text.dropFirst())" : text
                }
                return "[\(keyPaths.joined(separator: ", "))]"
            }
    }
}

extension DeclModifierListSyntax {
    /// The access level of a declaration for its members, with a space; empty for the default.
    var access: String {
        let levels: Set<String> = ["public", "package"]
        return first { levels.contains($0.name.text) }.map { "\($0.name.text) " } ?? ""
    }
}

extension StringLiteralExprSyntax {
    /// Whether the text has no interpolation.
    var isPlain: Bool { segments.allSatisfy { $0.is(StringSegmentSyntax.self) } }
}
