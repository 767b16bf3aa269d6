import SwiftSyntax

/// A persisted property of a model class.
struct PropertyDeclaration {
    /// As written, which may be in backquotes.
    let name: String
    /// The type as written; nil if the compiler infers it from the initial value.
    let type: TypeSyntax?
    /// The initial value as source text.
    let initialValue: ExprSyntax?
    /// The arguments of `@Attribute` or `@Relationship` as an expression; nil for neither.
    let metadata: String?

    var plainName: String { name.filter { $0 != "`" } }

    /// The default value as an expression of the property's type; nil for none.
    var defaultValue: String? {
        guard let initialValue else { return nil }
        guard let type else { return initialValue.trimmedDescription }
        return "(\(initialValue.trimmedDescription)) as \(type.withoutImplicitUnwrapping)"
    }

    /// The property that a variable declares; nil if it is not persisted.
    init?(_ variable: VariableDeclSyntax) throws(LocatedProblem) {
        guard variable.isOfInstances, !variable.isComputed else { return nil }
        guard variable.bindings.count == 1, let binding = variable.bindings.first,
            let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
        else {
            if variable.attribute(named: "Transient") != nil { return nil }
            throw LocatedProblem(variable, .severalVariables)
        }
        name = pattern.identifier.text
        type = binding.typeAnnotation?.type.trimmed
        initialValue = binding.initializer?.value
        let plainName = pattern.identifier.text.filter { $0 != "`" }
        let isInitialized = initialValue != nil || variable.isOptionalVariable
        if variable.attribute(named: "Transient") != nil {
            guard isInitialized else {
                throw LocatedProblem(binding, .transientWithoutDefault(plainName))
            }
            return nil
        }
        guard binding.accessorBlock == nil else {
            throw LocatedProblem(
                binding, isInitialized ? .observed(plainName) : .observedWithoutDefault(plainName))
        }
        if variable.bindingSpecifier.tokenKind == .keyword(.let) {
            throw LocatedProblem(variable.bindingSpecifier, .constant(plainName))
        }
        for modifier in variable.modifiers {
            switch modifier.name.text {
            case "lazy": throw LocatedProblem(variable, .lazy(plainName))
            case "weak", "unowned":
                let problem = ModelProblem.reference(plainName, specifier: modifier.name.text)
                throw LocatedProblem(variable, problem)
            default: break
            }
        }
        let options = ["Attribute", "Relationship"].filter { variable.attribute(named: $0) != nil }
        guard options.count < 2 else {
            throw LocatedProblem(variable, .attributeAndRelationship(plainName))
        }
        metadata = options.first.map { macro in
            let arguments = variable.attribute(named: macro)?.arguments?.trimmedDescription ?? ""
            return "SwiftData.Schema.\(macro)(\(arguments))"
        }
    }
}

extension VariableDeclSyntax {
    var isOfInstances: Bool {
        !modifiers.contains { ["static", "class"].contains($0.name.text) }
    }

    /// Whether the variable has a getter. Observers do not make it a computed one.
    var isComputed: Bool {
        bindings.contains { binding in
            guard let block = binding.accessorBlock else { return false }
            guard case .accessors(let accessors) = block.accessors else { return true }
            return !accessors.allSatisfy {
                ["willSet", "didSet"].contains($0.accessorSpecifier.text)
            }
        }
    }

    /// Whether the variable is initialized with nil although it has no initial value.
    var isOptionalVariable: Bool {
        guard bindingSpecifier.tokenKind == .keyword(.var), bindings.count == 1,
            let type = bindings.first?.typeAnnotation?.type
        else { return false }
        return type.is(OptionalTypeSyntax.self)
            || type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
    }

    /// Whether `@Attribute` of the variable has the option `.transformable`.
    var isTransformable: Bool {
        guard let arguments = attribute(named: "Attribute")?.arguments else { return false }
        return arguments.as(LabeledExprListSyntax.self)?.contains { argument in
            argument.label == nil
                && argument.expression.as(FunctionCallExprSyntax.self)?.calledExpression
                    .as(MemberAccessExprSyntax.self)?.declName.baseName.text == "transformable"
        } == true
    }

    func attribute(named name: String) -> AttributeSyntax? {
        attributes.lazy.compactMap { $0.as(AttributeSyntax.self) }.first {
            let written = $0.attributeName.trimmedDescription
            return written == name || written == "SwiftData.\(name)"
        }
    }
}

extension TypeSyntax {
    /// The type with `?` in place of `!`.
    fileprivate var withoutImplicitUnwrapping: String {
        guard let optional = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) else {
            return trimmedDescription
        }
        return "\(optional.wrappedType.trimmedDescription)?"
    }
}

extension ExprSyntax {
    /// Whether the value may be the same in every process: a literal, or a member by its name,
    /// which may be the case of an enum. Whether it is one depends on the property's type.
    var isConstant: Bool {
        switch kind {
        case .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr, .nilLiteralExpr: true
        case .stringLiteralExpr:
            self.as(StringLiteralExprSyntax.self)?.segments.allSatisfy {
                $0.is(StringSegmentSyntax.self)
            } == true
        case .prefixOperatorExpr:
            self.as(PrefixOperatorExprSyntax.self)?.expression.isConstant == true
        case .arrayExpr:
            self.as(ArrayExprSyntax.self)?.elements.allSatisfy(\.expression.isConstant) == true
        case .dictionaryExpr:
            self.as(DictionaryExprSyntax.self)?.content.as(DictionaryElementListSyntax.self)?
                .allSatisfy { $0.key.isConstant && $0.value.isConstant } != false
        case .memberAccessExpr:
            self.as(MemberAccessExprSyntax.self)?.base?.isTypeName != false
        default: false
        }
    }

    /// Whether the expression is a name such as `Status` or `Store.Status`.
    private var isTypeName: Bool {
        if let reference = self.as(DeclReferenceExprSyntax.self) {
            return reference.baseName.text.first?.isUppercase == true
        }
        guard let member = self.as(MemberAccessExprSyntax.self), let base = member.base else {
            return false
        }
        return base.isTypeName && member.declName.baseName.text.first?.isUppercase == true
    }
}
