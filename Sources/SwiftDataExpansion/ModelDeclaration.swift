import SwiftDiagnostics
import SwiftIfConfig
import SwiftSyntax

/// The class to which `@Model` is attached, as far as the expansion needs it.
struct ModelDeclaration {
    /// As written, which may be in backquotes.
    let typeName: String
    let isFinal: Bool
    /// The access level of members that subclasses override, with a space after it.
    let overridableAccess: String
    /// The class or protocol that the inheritance clause names first, as written.
    let firstInheritedType: String?
    /// The persisted properties by slot, counted from the class's first one.
    let properties: [PropertyDeclaration]
    let constraints: [ConstraintDeclaration]

    /// The name of the storage of the values of this class, without those of its superclass.
    var storage: String { ModelNames.storage(of: typeName) }
    /// The name of the property that makes the storage.
    var values: String { ModelNames.values(of: typeName) }
    /// The name of the slot of the class's first property.
    var firstSlot: String { ModelNames.firstSlot(of: typeName) }

    /// Nil if an error was reported, or for an enum, on which `@Model` has no effect.
    ///
    /// - Parameter configuration: The configuration by which conditional members are chosen.
    init?(
        _ declaration: some DeclGroupSyntax, _ configuration: (any BuildConfiguration)?,
        reporting report: (Diagnostic) -> Void
    ) {
        guard let model = declaration.as(ClassDeclSyntax.self) else {
            if let problem = declaration.problemOfKind(ModelProblem.notAClass) {
                report(problem.diagnostic)
            }
            return nil
        }
        var problems: [LocatedProblem] = []
        typeName = model.name.text
        isFinal = model.modifiers.contains { $0.name.text == "final" }
        overridableAccess =
            model.modifiers.contains { $0.name.text == "open" } ? "open " : "public "
        firstInheritedType = model.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription
        if model.genericParameterClause != nil {
            problems.append(LocatedProblem(model.name, .generic(typeName)))
        }
        let members = Self.members(of: model, configuration)
        if !members.contains(where: { $0.is(InitializerDeclSyntax.self) }) {
            problems.append(LocatedProblem(model.name, .withoutInitializer(typeName)))
        }
        var properties: [PropertyDeclaration] = []
        for variable in members.compactMap({ $0.as(VariableDeclSyntax.self) }) {
            do throws(LocatedProblem) {
                if let property = try PropertyDeclaration(variable) { properties.append(property) }
            } catch {
                problems.append(error)
            }
        }
        self.properties = properties
        let macros = members.compactMap { $0.as(MacroExpansionDeclSyntax.self) }
        let names = properties.map(\.plainName)
        constraints = macros.compactMap { $0.constraint(of: model.name.text, properties: names) }
        let unpersisted = Self.variableNames(members).subtracting(names)
        problems += macros.flatMap { $0.constraintProblems(unpersisted) }
        for problem in problems { report(problem.diagnostic) }
        if problems.contains(where: { $0.problem.severity == .error }) { return nil }
    }

    /// The slot of a property, counted from the class's first one; nil if it is not persisted.
    static func slot(
        of variable: VariableDeclSyntax, in model: ClassDeclSyntax,
        _ configuration: (any BuildConfiguration)?
    ) -> Int? {
        guard let name = persistedName(of: variable) else { return nil }
        return members(of: model, configuration).lazy
            .compactMap { $0.as(VariableDeclSyntax.self) }
            .compactMap(persistedName)
            .enumerated().first { $0.element == name }?.offset
    }

    /// The members, with those of the active clause in place of each `#if`.
    static func members(
        of model: ClassDeclSyntax, _ configuration: (any BuildConfiguration)?
    ) -> [DeclSyntax] {
        let members = model.memberBlock.members.map(\.decl)
        guard let configuration, members.contains(where: { $0.is(IfConfigDeclSyntax.self) }),
            let active = model.removingInactive(in: configuration).result
                .as(ClassDeclSyntax.self)
        else { return members }
        return active.memberBlock.members.map(\.decl)
    }

    private static func variableNames(_ members: [DeclSyntax]) -> Set<String> {
        let names = members.compactMap { $0.as(VariableDeclSyntax.self) }.flatMap(\.bindings)
            .compactMap { $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.text }
        return Set(names.map { $0.filter { $0 != "`" } })
    }

    private static func persistedName(of variable: VariableDeclSyntax) -> String? {
        // The other expansion reports what is wrong.
        (try? PropertyDeclaration(variable))?.name
    }
}

/// `#Unique` or `#Index` in a class.
struct ConstraintDeclaration {
    /// The name of the type.
    let type: String
    /// The arguments as an expression.
    let expression: String
    /// The properties as they are written, if some are not persisted properties of the class: they
    /// may be inherited.
    let uncheckedNames: [String]?
}

/// The names of members that the macros of one class share.
enum ModelNames {
    static func storage(of typeName: String) -> String {
        "_$object_\(typeName.filter { $0 != "`" })"
    }

    static func values(of typeName: String) -> String {
        "_$values_\(typeName.filter { $0 != "`" })"
    }

    static func firstSlot(of typeName: String) -> String {
        "_$firstSlot_\(typeName.filter { $0 != "`" })"
    }
}

extension DeclGroupSyntax {
    /// The problem with a declaration that is a struct, an actor, a class and so on; nil for an
    /// enum.
    func problemOfKind(_ problem: (String, String) -> ModelProblem) -> LocatedProblem? {
        if let structure = self.as(StructDeclSyntax.self) {
            return LocatedProblem(structure.structKeyword, problem("struct", structure.name.text))
        }
        if let actor = self.as(ActorDeclSyntax.self) {
            return LocatedProblem(actor.actorKeyword, problem("actor", actor.name.text))
        }
        if let model = self.as(ClassDeclSyntax.self) {
            return LocatedProblem(model.classKeyword, problem("class", model.name.text))
        }
        if let type = self.as(ProtocolDeclSyntax.self) {
            return LocatedProblem(type.protocolKeyword, problem("protocol", type.name.text))
        }
        return nil
    }
}

extension MacroExpansionDeclSyntax {
    private var isConstraint: Bool { ["Unique", "Index"].contains(macroName.text) }

    /// The key paths of `#Unique` or `#Index` that name variables of the class which are not
    /// persisted.
    fileprivate func constraintProblems(_ unpersisted: Set<String>) -> [LocatedProblem] {
        guard isConstraint else { return [] }
        return arguments.keyPaths.compactMap { keyPath in
            guard let name = keyPath.firstName, unpersisted.contains(name) else { return nil }
            return LocatedProblem(
                keyPath, .unpersistedInConstraint(name, macro: macroName.text))
        }
    }

    /// `SwiftData.Schema.Unique<Item>([\.name])` for `#Unique<Item>([\.name])`.
    fileprivate func constraint(
        of typeName: String, properties: [String]
    ) -> ConstraintDeclaration? {
        guard isConstraint else { return nil }
        let type = "SwiftData.Schema.\(macroName.text)"
        let parameters = genericArgumentClause?.trimmedDescription ?? "<\(typeName)>"
        let names = arguments.keyPaths.map { $0.firstName ?? $0.trimmedDescription }
        return ConstraintDeclaration(
            type: type, expression: "\(type)\(parameters)(\(arguments.trimmedDescription))",
            uncheckedNames: names.allSatisfy(properties.contains) ? nil : names)
    }
}

extension KeyPathExprSyntax {
    /// The name of the property, or of the first one; nil if it does not begin with a property.
    fileprivate var firstName: String? {
        components.first?.component.as(KeyPathPropertyComponentSyntax.self)?
            .declName.baseName.text.filter { $0 != "`" }
    }
}

extension SyntaxProtocol {
    /// The key paths in an expression, in their order.
    fileprivate var keyPaths: [KeyPathExprSyntax] {
        children(viewMode: .sourceAccurate).flatMap { child in
            child.as(KeyPathExprSyntax.self).map { [$0] } ?? child.keyPaths
        }
    }
}
