import SwiftSyntax
import SwiftSyntaxMacros

/// The accessors of a persisted property, which ``PersistentModelMacro`` attaches.
open class PersistedPropertyMacro: PersistedPropertyAccessors {
    public static let functions = (initialize: "initialize", get: "getValue", set: "setValue")
    public static let editsLists = true
}

/// The accessors of a property whose values a transformer makes data.
open class TransformablePersistedPropertyMacro: PersistedPropertyAccessors {
    public static let functions = (
        initialize: "initializeTransformable", get: "getTransformableValue",
        set: "setTransformableValue"
    )
    public static let editsLists = false
}

/// The accessors call functions of the storage, of which the compiler chooses one by the type of
/// the property. They take the slot, and the key path as a carrier of the type.
public protocol PersistedPropertyAccessors: AccessorMacro, PeerMacro {
    /// The functions of the storage.
    static var functions: (initialize: String, get: String, set: String) { get }
    /// Whether a list, which may be a relationship, is edited in place.
    static var editsLists: Bool { get }
}

extension PersistedPropertyAccessors {
    public static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [AccessorDeclSyntax] {
        guard let name = declaration.propertyName,
            let variable = declaration.as(VariableDeclSyntax.self),
            let model = context.lexicalContext.first?.as(ClassDeclSyntax.self)
        else { return [] }
        let typeName = model.name.text
        let hidden = ModelNames.hidden(name)
        let stored =
            model.globalActor == nil
            ? ModelNames.storage(of: typeName) : ModelNames.box(of: typeName)
        let storage = model.globalActor == nil ? stored : "\(stored).object"
        let values = ModelNames.values(of: typeName)
        let keyPath = "\\\(typeName).\(name)"
        let index =
            node.firstArgument.map { "\(typeName).\(ModelNames.firstSlot(of: typeName)) + \($0)" }
            ?? "\(typeName).\(ModelNames.slot(of: name))"
        let set = """
            \(values).\(functions.set)(of: self, \(keyPath), at: \(index), to: newValue)
            """
        let get = "\(values).\(functions.get)(of: self, \(keyPath), at: \(index))"
        let setter = ObserverCalls(variable.observers, set: set, get: get, hidden: hidden)
        var accessors: [AccessorDeclSyntax] = [
            """
            @storageRestrictions(accesses: \(raw: stored), initializes: \(raw: hidden))
            init(initialValue) {
                \(raw: hidden) = .init()
                SwiftData._storage(&\(raw: storage), for: initialValue)?
                    .\(raw: functions.initialize)(
                        at: \(raw: index), \(raw: keyPath), to: initialValue)
            }
            """,
            "get { \(raw: get) }",
            """
            set {
                \(raw: setter.statements)
            }
            """,
        ]
        if editsLists, variable.observers.isEmpty, variable.isWrittenAsList {
            accessors.append(
                "_modify { yield &\(raw: values)[of: self, \(raw: keyPath), at: \(raw: index)] }")
        }
        return accessors
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
        let isInitialized =
            variable.isOptionalVariable || variable.bindings.first?.initializer != nil
        let type = variable.observers.isEmpty ? "_NoType" : "_ObserverState"
        let value = isInitialized ? " = .init()" : ""
        var peers: [DeclSyntax] = [
            "private var \(raw: ModelNames.hidden(name)): SwiftData.\(raw: type)\(raw: value)"
        ]
        if node.firstArgument == nil,
            let typeName = context.lexicalContext.first?.as(ClassDeclSyntax.self)?.name.text
        {
            let plainName = name.filter { $0 != "`" }
            peers.append(
                """
                private nonisolated static let \(raw: ModelNames.slot(of: name)) =
                    SwiftData._slot(of: \(literal: plainName), in: \(raw: typeName).self)
                """)
        }
        return peers
    }
}

/// The statements of the setter of a property with observers, which are called as those of a
/// property without accessors: not for what an observer assigns to its own property.
private struct ObserverCalls {
    let statements: String

    /// - Parameters:
    ///   - set: The statement that sets `newValue`.
    ///   - get: The expression of the value.
    ///   - hidden: The name of the stored property that says whether an observer is running.
    init(_ observers: [AccessorDeclSyntax], set: String, get: String, hidden: String) {
        guard !observers.isEmpty else {
            statements = set
            return
        }
        var lines = [
            "guard !\(hidden).isRunning else {", set, "return", "}",
            "\(hidden).isRunning = true", "defer { \(hidden).isRunning = false }",
        ]
        for observer in observers where observer.accessorSpecifier.text == "willSet" {
            lines += observer.call(default: "newValue")
        }
        let didSet = observers.filter { $0.accessorSpecifier.text == "didSet" }
        if !didSet.isEmpty { lines.append("let oldValue = \(get)") }
        lines.append(set)
        lines += didSet.flatMap { $0.call(default: "oldValue") }
        statements = lines.joined(separator: "\n")
    }
}

extension AccessorDeclSyntax {
    /// The observer as a local function, because it may return early, and its call.
    ///
    /// - Parameter name: The name of the value in the body, unless the observer has another one.
    fileprivate func call(default name: String) -> [String] {
        let function = "_$\(accessorSpecifier.text)"
        var lines = ["func \(function)() {"]
        if let written = parameters?.name.text, written != name {
            lines.append("let \(written) = \(name)")
        }
        lines.append("_ = \(parameters?.name.text ?? name)")
        lines.append(body?.statements.trimmedDescription ?? "")
        return lines + ["}", "\(function)()"]
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

extension VariableDeclSyntax {
    /// Whether the type or the initial value is an array as it is written. A list whose type has
    /// another name is copied when it is edited.
    fileprivate var isWrittenAsList: Bool {
        guard let binding = bindings.first else { return false }
        guard let type = binding.typeAnnotation?.type else {
            return binding.initializer?.value.trimmedDescription.hasPrefix("[") == true
        }
        let wrapped =
            type.as(OptionalTypeSyntax.self)?.wrappedType
            ?? type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self)?.wrappedType ?? type
        return wrapped.is(ArrayTypeSyntax.self)
            || wrapped.as(IdentifierTypeSyntax.self)?.name.text == "Array"
            || wrapped.as(MemberTypeSyntax.self)?.name.text == "Array"
    }
}

extension AttributeSyntax {
    /// The first argument as written.
    fileprivate var firstArgument: String? {
        arguments?.as(LabeledExprListSyntax.self)?.first?.expression.trimmedDescription
    }
}
