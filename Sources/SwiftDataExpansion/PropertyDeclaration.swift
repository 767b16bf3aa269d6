import SwiftIfConfig
import SwiftSyntax

/// A persisted property of a model class.
struct PropertyDeclaration {
    /// As written, which may be in backquotes.
    let name: String
    /// The type as written; nil if the compiler infers it from the initial value.
    let type: TypeSyntax?
    /// The initial value as source text.
    let initialValue: ExprSyntax?
    /// The options of `@Attribute` or `@Relationship`; several if conditions decide that the macro
    /// cannot evaluate.
    let options: [PropertyOptions]
    /// Whether `@Attribute` has the option `.transformable`.
    let isTransformable: Bool
    /// Whether it is declared with `let`: a stored property, whose value the store has as well.
    let isConstant: Bool
    /// The condition under which the class has the property; nil if it has it in any case.
    var condition: String?

    var plainName: String { name.filter { $0 != "`" } }

    /// The name of the hidden stored property next to it.
    var storageName: String { ModelNames.hidden(name) }

    /// The default value as an expression of the property's type; nil for none.
    var defaultValue: String? {
        guard let initialValue else { return nil }
        guard let type else { return initialValue.trimmedDescription }
        return "(\(initialValue.trimmedDescription)) as \(type.withoutImplicitUnwrapping)"
    }

    /// The property that a variable declares; nil if it is not persisted.
    init?(
        _ variable: VariableDeclSyntax, _ configuration: (any BuildConfiguration)?
    ) throws(LocatedProblem) {
        guard variable.isOfInstances, !variable.isComputed, !variable.isOverride else { return nil }
        let attributes = variable.attributes.attributes(in: configuration)
        let transient = attributes.filter { $0.element.isNamed("Transient") }
        let isTransient = transient.contains { $0.condition == nil }
        guard variable.bindings.count == 1, let binding = variable.bindings.first,
            let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
        else {
            if isTransient { return nil }
            throw LocatedProblem(variable, .severalVariables)
        }
        name = pattern.identifier.text
        type = binding.typeAnnotation?.type.trimmed
        initialValue = binding.initializer?.value
        let plainName = pattern.identifier.text.filter { $0 != "`" }
        if isTransient {
            guard initialValue != nil || variable.isOptionalVariable else {
                throw LocatedProblem(binding, .transientWithoutDefault(plainName))
            }
            return nil
        }
        if let conditional = transient.first, let condition = conditional.condition {
            throw LocatedProblem(
                conditional.element, .conditional(plainName, "@Transient", condition))
        }
        isConstant = variable.bindingSpecifier.tokenKind == .keyword(.let)
        if isConstant, let initialValue, !initialValue.isLiteral {
            throw LocatedProblem(initialValue, .constant(plainName))
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
        options = try PropertyOptions.all(among: attributes, of: plainName)
        let transformable = options.first(where: \.isTransformable)
        isTransformable = transformable != nil
        if let transformable, let condition = transformable.condition {
            throw LocatedProblem(
                transformable.attribute, .conditional(plainName, ".transformable", condition))
        }
    }
}

/// The options of a property.
struct PropertyOptions {
    let attribute: AttributeSyntax
    let condition: String?

    /// The options as an expression.
    var expression: String {
        let kind = attribute.isNamed("Attribute") ? "Attribute" : "Relationship"
        return "SwiftData.Schema.\(kind)(\(attribute.arguments?.trimmedDescription ?? ""))"
    }

    /// Whether `@Attribute` has the option `.transformable`.
    fileprivate var isTransformable: Bool {
        attribute.isNamed("Attribute")
            && attribute.arguments?.as(LabeledExprListSyntax.self)?.contains { argument in
                argument.label == nil
                    && argument.expression.as(FunctionCallExprSyntax.self)?.calledExpression
                        .as(MemberAccessExprSyntax.self)?.declName.baseName.text == "transformable"
            } == true
    }

    /// One, or those of the clauses of one `#if`.
    fileprivate static func all(
        among attributes: [Conditional<AttributeSyntax>], of name: String
    ) throws(LocatedProblem) -> [PropertyOptions] {
        let written = attributes.filter {
            $0.element.isNamed("Attribute") || $0.element.isNamed("Relationship")
        }
        if written.count > 1, let last = written.last {
            let kinds = ["Attribute", "Relationship"].filter { kind in
                written.contains { $0.condition == nil && $0.element.isNamed(kind) }
            }
            if kinds.count > 1 {
                throw LocatedProblem(last.element, .attributeAndRelationship(name))
            }
            let chains = Set(written.map { $0.chain?.id })
            let conditions = Set(written.map(\.condition))
            guard chains.count == 1, !chains.contains(nil), conditions.count == written.count
            else { throw LocatedProblem(last.element, .severalOptions(name)) }
        }
        return written.map { PropertyOptions(attribute: $0.element, condition: $0.condition) }
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

    /// Whether the variable adds observers to a property of the superclass, which persists it.
    fileprivate var isOverride: Bool { modifiers.contains { $0.name.text == "override" } }

    /// The problem with `@Attribute` or `@Relationship` of a variable that is not persisted.
    func optionsWithoutEffect(_ configuration: (any BuildConfiguration)?) -> LocatedProblem? {
        let written = attributes.attributes(in: configuration).first {
            $0.element.isNamed("Attribute") || $0.element.isNamed("Relationship")
        }
        guard let attribute = written?.element else { return nil }
        let name = bindings.first?.pattern.trimmedDescription.filter { $0 != "`" } ?? ""
        let kind = attribute.isNamed("Attribute") ? "Attribute" : "Relationship"
        return LocatedProblem(attribute, .optionsWithoutEffect(name, kind))
    }

    /// The observers of the variable.
    var observers: [AccessorDeclSyntax] {
        guard case .accessors(let accessors)? = bindings.first?.accessorBlock?.accessors else {
            return []
        }
        return accessors.filter { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
    }
}

extension AttributeSyntax {
    /// Whether the attribute is a macro of this module.
    func isNamed(_ name: String) -> Bool {
        let written = attributeName.trimmedDescription
        return written == name || written == "SwiftData.\(name)"
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
        isLiteral { $0.as(MemberAccessExprSyntax.self).map { $0.base?.isTypeName != false } }
    }

    /// Whether the value is a literal, which is the same for every instance.
    var isLiteral: Bool { isLiteral { _ in nil } }

    /// - Parameter member: Whether another expression is accepted as a literal; nil for no.
    private func isLiteral(or member: (ExprSyntax) -> Bool?) -> Bool {
        switch kind {
        case .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr, .nilLiteralExpr: true
        case .stringLiteralExpr:
            self.as(StringLiteralExprSyntax.self)?.segments.allSatisfy {
                $0.is(StringSegmentSyntax.self)
            } == true
        case .prefixOperatorExpr:
            self.as(PrefixOperatorExprSyntax.self)?.expression.isLiteral(or: member) == true
        case .arrayExpr:
            self.as(ArrayExprSyntax.self)?.elements.allSatisfy {
                $0.expression.isLiteral(or: member)
            } == true
        case .dictionaryExpr:
            self.as(DictionaryExprSyntax.self)?.content.as(DictionaryElementListSyntax.self)?
                .allSatisfy {
                    $0.key.isLiteral(or: member) && $0.value.isLiteral(or: member)
                } != false
        default: member(self) == true
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
