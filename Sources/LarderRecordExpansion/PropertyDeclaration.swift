import SwiftSyntax

/// A stored property of a record.
struct PropertyDeclaration {
    /// As written, which may be in backquotes.
    let name: String
    /// As written, or the type of a literal default.
    let type: String
    /// The type in `Fields`: related objects are fields, too.
    let fieldType: String
    /// The access level in `Fields`, with a space after it.
    let access: String
    /// The options as an expression; nil for none.
    let options: String?
    /// The default in the schema as an expression; nil for none.
    let schemaDefault: String?
    let isTransient: Bool

    var nameLiteral: String { "\"\(name.filter { $0 != "`" })\"" }

    init(_ variable: VariableDeclSyntax, access: String) throws(LocatedProblem) {
        guard variable.bindings.count == 1, let binding = variable.bindings.first,
            let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
        else { throw LocatedProblem(variable, .severalVariables) }
        name = pattern.identifier.text
        isTransient = variable.attribute(named: "Transient") != nil
        let initial = binding.initializer?.value
        if variable.modifiers.contains(where: { $0.name.text == "lazy" }) {
            throw LocatedProblem(variable, .lazy(name))
        }
        if isTransient {
            let isOptional = binding.typeAnnotation?.type.is(OptionalTypeSyntax.self) == true
            guard initial != nil || isOptional else {
                throw LocatedProblem(binding, .transientWithoutDefault(name))
            }
        } else if variable.bindingSpecifier.tokenKind == .keyword(.let), initial != nil {
            throw LocatedProblem(variable.bindingSpecifier, .constant(name))
        }
        guard let type = binding.typeAnnotation?.type.trimmed ?? initial?.literalType else {
            throw LocatedProblem(binding, .withoutType(name))
        }
        self.type = type.trimmedDescription
        do throws(RecordProblem) {
            fieldType = try type.fieldType(of: name)
        } catch {
            throw LocatedProblem(type, error)
        }
        let isPrivate = variable.modifiers.contains {
            ["private", "fileprivate"].contains($0.name.text) && $0.detail == nil
        }
        self.access = isPrivate ? "fileprivate " : access
        options = variable.options
        schemaDefault = initial.flatMap { $0.isSchemaDefault ? $0.trimmedDescription : nil }
    }

    /// The type of the property `id` without the question mark.
    func identifierType(_ variable: VariableDeclSyntax) throws(LocatedProblem) -> String {
        guard let type = variable.bindings.first?.typeAnnotation?.type,
            let wrapped = type.optionalWrapped,
            variable.bindingSpecifier.tokenKind == .keyword(.var)
        else { throw LocatedProblem(variable, .identifierOfAnotherType) }
        return wrapped.trimmedDescription
    }
}

extension VariableDeclSyntax {
    /// Whether the declaration is of instances' stored properties.
    var isStored: Bool {
        guard !modifiers.contains(where: { ["static", "class"].contains($0.name.text) }) else {
            return false
        }
        return bindings.allSatisfy { binding in
            switch binding.accessorBlock?.accessors {
            case nil: true
            case .getter: false
            // Observers do not make a property a computed one.
            case .accessors(let accessors):
                accessors.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
            }
        }
    }

    func attribute(named name: String) -> AttributeSyntax? {
        attributes.lazy.compactMap { $0.as(AttributeSyntax.self) }.first {
            let written = $0.attributeName.trimmedDescription
            return written == name || written == "LarderRecords.\(name)"
        }
    }

    /// The arguments of `@Attribute` or `@Relationship` as an expression.
    fileprivate var options: String? {
        for (macro, function) in [("Attribute", "attribute"), ("Relationship", "relationship")] {
            guard let arguments = attribute(named: macro)?.arguments else { continue }
            return "LarderRecords.PropertyOptions.\(function)(\(arguments.trimmedDescription))"
        }
        return nil
    }
}

extension TypeSyntax {
    /// The type whose optional this is; nil if it is not an optional.
    var optionalWrapped: TypeSyntax? {
        if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType }
        return argument(of: "Optional")
    }

    /// The type of the property in `Fields`: `Author.Fields` for `Ref<Author>`, an optional or an
    /// array of it likewise, and any other type as it is.
    func fieldType(of name: String) throws(RecordProblem) -> String {
        if let target = argument(of: "Ref") { return "\(target.trimmedDescription).Fields" }
        if let wrapped = optionalWrapped {
            if let target = wrapped.argument(of: "Ref") {
                return "\(target.trimmedDescription).Fields?"
            }
            if wrapped.elementOfArray?.argument(of: "Ref") != nil {
                throw .optionalList(name)
            }
        }
        if let target = elementOfArray?.argument(of: "Ref") {
            return "[\(target.trimmedDescription).Fields]"
        }
        if argument(of: "Set")?.argument(of: "Ref") != nil { throw .setOfObjects(name) }
        return trimmedDescription
    }

    private var elementOfArray: TypeSyntax? {
        self.as(ArrayTypeSyntax.self)?.element ?? argument(of: "Array")
    }

    /// The only generic argument of a type with a name, which may be qualified.
    private func argument(of name: String) -> TypeSyntax? {
        let clause: GenericArgumentClauseSyntax?
        if let identifier = self.as(IdentifierTypeSyntax.self), identifier.name.text == name {
            clause = identifier.genericArgumentClause
        } else if let member = self.as(MemberTypeSyntax.self), member.name.text == name {
            clause = member.genericArgumentClause
        } else {
            return nil
        }
        guard let clause, clause.arguments.count == 1,
            case .type(let type)? = clause.arguments.first?.argument
        else { return nil }
        return type
    }
}

extension ExprSyntax {
    /// The type that a literal has by default; nil for any other expression.
    fileprivate var literalType: TypeSyntax? {
        switch kind {
        case .integerLiteralExpr: "Int"
        case .floatLiteralExpr: "Double"
        case .booleanLiteralExpr: "Bool"
        case .stringLiteralExpr: "String"
        case .prefixOperatorExpr: self.as(PrefixOperatorExprSyntax.self)?.expression.literalType
        default: nil
        }
    }

    /// Whether the value is the same at any time, so that it can be the default in a schema.
    fileprivate var isSchemaDefault: Bool {
        switch kind {
        case .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr: true
        case .stringLiteralExpr: self.as(StringLiteralExprSyntax.self)?.isPlain == true
        case .prefixOperatorExpr:
            self.as(PrefixOperatorExprSyntax.self)?.expression.isSchemaDefault == true
        // A case of an enum.
        case .memberAccessExpr: self.as(MemberAccessExprSyntax.self)?.base == nil
        default: false
        }
    }
}
