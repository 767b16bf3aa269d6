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
    /// The global actor to which the class is isolated, as written.
    let globalActor: String?
    /// The class or protocol that the inheritance clause names first, as written.
    let firstInheritedType: String?
    /// The persisted properties by slot, counted from the class's first one.
    let properties: [PropertyDeclaration]
    let constraints: [ConstraintDeclaration]
    /// The properties that the class has only under conditions that the macro cannot evaluate.
    /// Their slots are after those of the others, and are known at run time.
    let conditionalProperties: [PropertyDeclaration]

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
        globalActor = model.globalActor
        firstInheritedType = model.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription
        if model.genericParameterClause != nil {
            problems.append(LocatedProblem(model.name, .generic(typeName)))
        }
        let members = model.memberBlock.members.members(in: configuration)
        if !members.contains(where: { $0.element.is(InitializerDeclSyntax.self) }) {
            problems.append(LocatedProblem(model.name, .withoutInitializer(typeName)))
        }
        var properties: [PropertyDeclaration] = []
        var hasInvalidProperty = false
        for member in members {
            guard let variable = member.element.as(VariableDeclSyntax.self) else { continue }
            do throws(LocatedProblem) {
                guard var property = try PropertyDeclaration(variable, configuration) else {
                    continue
                }
                property.condition = member.condition
                properties.append(property)
            } catch {
                // The expansion for the property reports it, if the class has the property.
                hasInvalidProperty = hasInvalidProperty || member.condition == nil
            }
        }
        self.properties = properties.filter { $0.condition == nil }
        conditionalProperties = properties.filter { $0.condition != nil }
        let names = properties.map(\.plainName)
        let unpersisted = Self.variableNames(members.map(\.element)).subtracting(names)
        constraints = members.compactMap { member in
            member.element.as(MacroExpansionDeclSyntax.self)?.constraint(
                of: model.name.text, properties: names, member.condition)
        }
        problems += members.compactMap { $0.element.as(MacroExpansionDeclSyntax.self) }
            .flatMap { $0.constraintProblems(unpersisted) }
        for problem in problems { report(problem.diagnostic) }
        if hasInvalidProperty || problems.contains(where: { $0.problem.severity == .error }) {
            return nil
        }
    }

    /// The slot of a property, counted from the class's first one; nil if the class has it only
    /// under a condition that the macro cannot evaluate.
    static func slot(
        of property: PropertyDeclaration, in model: ClassDeclSyntax,
        _ configuration: (any BuildConfiguration)?
    ) -> Int? {
        model.memberBlock.members.members(in: configuration).lazy
            .filter { $0.condition == nil }
            .compactMap { $0.element.as(VariableDeclSyntax.self) }
            // The other expansion reports what is wrong.
            .compactMap { try? PropertyDeclaration($0, configuration)?.name }
            .enumerated().first { $0.element == property.name }?.offset
    }

    private static func variableNames(_ members: [DeclSyntax]) -> Set<String> {
        let names = members.compactMap { $0.as(VariableDeclSyntax.self) }.flatMap(\.bindings)
            .compactMap { $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.text }
        return Set(names.map { $0.filter { $0 != "`" } })
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
    /// The condition under which the class has it; nil if it has it in any case.
    let condition: String?
}

/// The names of members that the macros of one class share.
enum ModelNames {
    static func storage(of typeName: String) -> String {
        "_$object_\(typeName.filter { $0 != "`" })"
    }

    /// The storage of a class that is isolated to a global actor, which has the object and the
    /// context: a stored property that is not isolated is a constant.
    static func box(of typeName: String) -> String {
        "_$storage_\(typeName.filter { $0 != "`" })"
    }

    static func values(of typeName: String) -> String {
        "_$values_\(typeName.filter { $0 != "`" })"
    }

    static func firstSlot(of typeName: String) -> String {
        "_$firstSlot_\(typeName.filter { $0 != "`" })"
    }

    /// The slot of a property that is known at run time.
    static func slot(of propertyName: String) -> String { quoted("_$slot_", propertyName) }

    /// The hidden stored property next to a persisted one.
    static func hidden(_ propertyName: String) -> String { quoted("_", propertyName) }

    /// In backquotes if the name is not an identifier without them, such as `` `two words` ``.
    private static func quoted(_ prefix: String, _ propertyName: String) -> String {
        let name = prefix + propertyName.filter { $0 != "`" }
        let isPlain = name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
        return isPlain ? name : "`\(name)`"
    }
}

extension ClassDeclSyntax {
    /// The global actor to which the class is isolated, as written. A macro sees the name of an
    /// attribute only, and those of global actors end so.
    var globalActor: String? {
        attributes.lazy.compactMap { $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription }
            .first { $0.hasSuffix("Actor") && !$0.hasSuffix("ModelActor") }
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

    /// The lists of `#Unique` or `#Index` without properties, and the key paths that name variables
    /// of the class which are not persisted.
    fileprivate func constraintProblems(_ unpersisted: Set<String>) -> [LocatedProblem] {
        guard isConstraint else { return [] }
        let macro = macroName.text
        if arguments.isEmpty { return [LocatedProblem(macroName, .emptyConstraint(macro: macro))] }
        let empty = arguments.compactMap { list in
            list.keyPaths.isEmpty && list.hasArrayLiteral
                ? LocatedProblem(list, .emptyList(macro: macro)) : nil
        }
        return empty
            + arguments.keyPaths.compactMap { keyPath in
                guard let name = keyPath.firstName, unpersisted.contains(name) else { return nil }
                return LocatedProblem(
                    keyPath, .unpersistedInConstraint(name, macro: macro))
            }
    }

    /// `SwiftData.Schema.Unique<Item>([\.name])` for `#Unique<Item>([\.name])`.
    fileprivate func constraint(
        of typeName: String, properties: [String], _ condition: String?
    ) -> ConstraintDeclaration? {
        guard isConstraint else { return nil }
        let type = "SwiftData.Schema.\(macroName.text)"
        let parameters = genericArgumentClause?.trimmedDescription ?? "<\(typeName)>"
        let names = arguments.keyPaths.map { $0.firstName ?? $0.trimmedDescription }
        return ConstraintDeclaration(
            type: type, expression: "\(type)\(parameters)(\(arguments.trimmedDescription))",
            uncheckedNames: names.allSatisfy(properties.contains) ? nil : names,
            condition: condition)
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
    /// Whether an array is written in the expression.
    fileprivate var hasArrayLiteral: Bool {
        self.is(ArrayExprSyntax.self)
            || children(viewMode: .sourceAccurate).contains { $0.hasArrayLiteral }
    }

    /// The key paths in an expression, in their order.
    fileprivate var keyPaths: [KeyPathExprSyntax] {
        children(viewMode: .sourceAccurate).flatMap { child in
            child.as(KeyPathExprSyntax.self).map { [$0] } ?? child.keyPaths
        }
    }
}
