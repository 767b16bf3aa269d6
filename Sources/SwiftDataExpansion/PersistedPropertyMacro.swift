import SwiftSyntax
import SwiftSyntaxMacros

/// The accessors of a persisted property, which ``PersistentModelMacro`` attaches.
open class PersistedPropertyMacro: PersistedPropertyAccessors {
    public static let functions = (initialize: "initialize", get: "getValue", set: "setValue")
}

/// The accessors of a property whose values a transformer makes data.
open class TransformablePersistedPropertyMacro: PersistedPropertyAccessors {
    public static let functions = (
        initialize: "initializeTransformable", get: "getTransformableValue",
        set: "setTransformableValue"
    )
}

/// The accessors call functions of the storage, of which the compiler chooses one by the type of
/// the property. They take the slot, and the key path as a carrier of the type.
public protocol PersistedPropertyAccessors: AccessorMacro, PeerMacro {
    /// The functions of the storage.
    static var functions: (initialize: String, get: String, set: String) { get }
}

extension PersistedPropertyAccessors {
    public static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [AccessorDeclSyntax] {
        guard let name = declaration.propertyName, let slot = node.firstArgument,
            let typeName = context.lexicalContext.first?.as(ClassDeclSyntax.self)?.name.text
        else { return [] }
        let plainName = name.filter { $0 != "`" }
        let storage = ModelNames.storage(of: typeName)
        let values = ModelNames.values(of: typeName)
        let keyPath = "\\\(typeName).\(name)"
        let index = "\(typeName).\(ModelNames.firstSlot(of: typeName)) + \(slot)"
        return [
            """
            @storageRestrictions(accesses: \(raw: storage), initializes: _\(raw: plainName))
            init(initialValue) {
                _\(raw: plainName) = .init()
                SwiftData._storage(&\(raw: storage), for: initialValue)?
                    .\(raw: functions.initialize)(
                        at: \(raw: index), \(raw: keyPath), to: initialValue)
            }
            """,
            """
            get {
                \(raw: values).\(raw: functions.get)(
                    of: self, \(raw: keyPath), at: \(raw: index))
            }
            """,
            """
            set {
                \(raw: values).\(raw: functions.set)(
                    of: self, \(raw: keyPath), at: \(raw: index), to: newValue)
            }
            """,
        ]
    }

    /// The storage that an initializer has to initialize, so that the compiler finds a property
    /// without a value.
    public static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        guard let name = declaration.propertyName,
            let variable = declaration.as(VariableDeclSyntax.self)
        else { return [] }
        let plainName = name.filter { $0 != "`" }
        let isInitialized =
            variable.isOptionalVariable || variable.bindings.first?.initializer != nil
        let value = isInitialized ? " = .init()" : ""
        return ["private var _\(raw: plainName): SwiftData._NoType\(raw: value)"]
    }
}

extension DeclSyntaxProtocol {
    /// The name of the only variable that is declared, which may be in backquotes.
    fileprivate var propertyName: String? {
        guard let bindings = self.as(VariableDeclSyntax.self)?.bindings, bindings.count == 1 else {
            return nil
        }
        return bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier.text
    }
}

extension AttributeSyntax {
    /// The first argument as written.
    fileprivate var firstArgument: String? {
        arguments?.as(LabeledExprListSyntax.self)?.first?.expression.trimmedDescription
    }
}
