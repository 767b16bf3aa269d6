import SwiftParser
import SwiftSyntax
import Testing

@testable import SwiftDataExpansion

/// A declaration is stored with the options of its attribute, it is transient by its meaning, or
/// the compiler says what to do.
@Suite("Each form of a declaration is stored, transient, or an error")
struct DeclarationTableTests {
    enum Outcome {
        case stored
        /// Not stored, as the declaration says.
        case transient
        case error(String)
    }

    struct Form: CustomTestStringConvertible, Sendable {
        let text: String
        let outcome: Outcome
        /// The name as the store has it.
        var name = "x"

        var testDescription: String { text }
    }

    /// `ATTRIBUTE` is where an attribute is written.
    static let forms: [Form] = [
        Form(text: "ATTRIBUTE var x: Int = 1", outcome: .stored),
        Form(text: "ATTRIBUTE var x = 1", outcome: .stored),
        Form(text: "ATTRIBUTE var x: Int? ", outcome: .stored),
        Form(text: "ATTRIBUTE var x: Int! = 1", outcome: .stored),
        Form(text: "ATTRIBUTE var x: Optional<Int> = nil", outcome: .stored),
        Form(text: "ATTRIBUTE var x: [String: [Int]] = [:]", outcome: .stored),
        Form(text: "ATTRIBUTE public var x = 1", outcome: .stored),
        Form(text: "ATTRIBUTE package var x = 1", outcome: .stored),
        Form(text: "ATTRIBUTE fileprivate var x = 1", outcome: .stored),
        Form(text: "ATTRIBUTE private var x = 1", outcome: .stored),
        Form(text: "ATTRIBUTE private(set) var x = 1", outcome: .stored),
        Form(text: "ATTRIBUTE public internal(set) var x = 1", outcome: .stored),
        Form(text: "ATTRIBUTE final var x = 1", outcome: .stored),
        Form(text: "ATTRIBUTE nonisolated var x = 1", outcome: .stored),
        Form(text: "@available(macOS 15, *) ATTRIBUTE var x = 1", outcome: .stored),
        Form(text: "@available(*, deprecated) ATTRIBUTE var x = 1", outcome: .stored),
        Form(text: "ATTRIBUTE var `x` = 1", outcome: .stored),
        Form(text: "ATTRIBUTE var `default` = 1", outcome: .stored, name: "default"),
        Form(text: "ATTRIBUTE var `two words` = 1", outcome: .stored, name: "two words"),
        Form(text: "ATTRIBUTE var größe = 1", outcome: .stored, name: "größe"),
        Form(text: "ATTRIBUTE var 数 = 1", outcome: .stored, name: "数"),
        Form(text: "ATTRIBUTE var x = 1 { didSet {} }", outcome: .stored),
        Form(text: "ATTRIBUTE var x: Int? { willSet(new) { print(new) } }", outcome: .stored),
        Form(text: "#if true\nATTRIBUTE var x = 1\n#endif", outcome: .stored),
        Form(text: "#if canImport(A)\nATTRIBUTE var x = 1\n#endif", outcome: .stored),
        Form(
            text: "#if canImport(A)\n#if os(Linux)\nvar y = 1\n#else\nATTRIBUTE var x = 1\n"
                + "#endif\n#endif", outcome: .stored),
        Form(
            text: "#if canImport(A)\nvar y = 1\n#else\nATTRIBUTE var x = 1\n#endif",
            outcome: .stored),
        Form(text: "ATTRIBUTE let x: Int? = nil", outcome: .stored),
        Form(text: "ATTRIBUTE let x = 1", outcome: .stored),
        Form(text: "ATTRIBUTE let x = Date()", outcome: .error("has an initial value that")),
        Form(text: "ATTRIBUTE let x = Kind.first", outcome: .error("has an initial value that")),
        Form(text: "ATTRIBUTE lazy var x = 1", outcome: .error("cannot be lazy")),
        Form(text: "ATTRIBUTE weak var x: Item?", outcome: .error("cannot be weak")),
        Form(text: "ATTRIBUTE unowned var x: Item? = nil", outcome: .error("cannot be unowned")),
        Form(text: "ATTRIBUTE var x = 1, y = 2", outcome: .error("by a 'var' of its own")),
        Form(text: "ATTRIBUTE var (x, y) = (1, 2)", outcome: .error("by a 'var' of its own")),
        Form(text: "ATTRIBUTE var x: Int { 1 }", outcome: .transient),
        Form(text: "ATTRIBUTE var x: Int { get { 1 } set {} }", outcome: .transient),
        Form(text: "ATTRIBUTE var x: Int { _read { yield 1 } }", outcome: .transient),
        Form(text: "ATTRIBUTE static var x = 1", outcome: .transient),
        Form(text: "ATTRIBUTE class var x: Int { 1 }", outcome: .transient),
        Form(text: "ATTRIBUTE override var x: Int { didSet {} }", outcome: .transient),
    ]

    static let options = [
        "Attribute(.unique)", "Attribute(.ephemeral)", "Attribute(.externalStorage)",
        "Attribute(.allowsCloudEncryption)", "Attribute(.preserveValueOnDeletion)",
        "Attribute(.spotlight)", "Attribute(.codable)", "Attribute(.transformable(by: \"T\"))",
        "Attribute(originalName: \"old\")", "Attribute(hashModifier: \"2\")",
        "Attribute(.unique, originalName: \"old\")", "Relationship(.unique)",
        "Relationship(deleteRule: .cascade, inverse: \\Part.item)", "Relationship()",
    ]

    private func source(_ form: Form, _ attribute: String) -> String {
        let declaration = form.text.replacing("ATTRIBUTE", with: attribute)
        return "@Model final class Item {\n\(declaration)\nvar last = 1\ninit() {}\n}"
    }

    /// The expansion of the last property but one, without the expansion of the class.
    private func outcome(
        _ form: Form, _ attribute: String
    ) throws -> (property: PropertyDeclaration?, problem: ModelProblem?) {
        let file = Parser.parse(source: source(form, attribute))
        let model = try #require(file.statements.first?.item.as(ClassDeclSyntax.self))
        let variables = model.memberBlock.members.members(in: nil)
            .compactMap { $0.element.as(VariableDeclSyntax.self) }
        let variable = try #require(variables.dropLast().last)
        do throws(LocatedProblem) {
            let property = try PropertyDeclaration(variable, nil)
            let unused = property == nil ? variable.optionsWithoutEffect(nil)?.problem : nil
            return (property, unused)
        } catch {
            return (nil, error.problem)
        }
    }

    @Test("a declaration without an attribute", arguments: forms)
    func plain(_ form: Form) {
        let expansion = MacroExpansion(source(form, ""))
        let keyPaths = [form.name, "`\(form.name)`"].map {
            #"name: "\#(form.name)", keypath: \Item.\#($0)"#
        }
        let isStored = keyPaths.contains { expansion.contains($0) }
        switch form.outcome {
        case .stored:
            #expect(expansion.messages == [] && expansion.warnings == [])
            #expect(isStored, "\(expansion.source)")
        case .transient:
            #expect(expansion.messages == [] && expansion.warnings == [])
            #expect(!isStored, "\(expansion.source)")
        case .error(let text):
            #expect(expansion.messages.count == 1)
            #expect(expansion.messages.allSatisfy { $0.contains(text) }, "\(expansion.messages)")
        }
    }

    @Test("a declaration with each option of @Attribute and @Relationship", arguments: forms)
    func withOptions(_ form: Form) throws {
        for option in Self.options {
            for attribute in ["@\(option)", "@SwiftData.\(option)"] {
                let (property, problem) = try outcome(form, attribute)
                switch form.outcome {
                case .stored:
                    #expect(problem == nil)
                    #expect(property?.plainName == form.name)
                    #expect(
                        property?.options.map(\.expression) == ["SwiftData.Schema.\(option)"])
                    #expect(property?.isTransformable == option.contains("transformable"))
                case .transient:
                    #expect(property == nil && problem?.severity == .warning)
                    let kind = option.prefix { $0 != "(" }
                    let text = "is not persisted here, so @\(kind) has no effect; remove it"
                    #expect(problem?.message.hasSuffix(text) == true)
                case .error(let text):
                    #expect(property == nil && problem?.message.contains(text) == true)
                }
            }
        }
    }

    @Test("a declaration with @Transient is not stored", arguments: forms)
    func transient(_ form: Form) throws {
        let plain = try outcome(form, "@Transient")
        #expect(plain.property == nil && plain.problem == nil)
        let withOptions = try outcome(form, "@Transient @Attribute(.unique)")
        #expect(withOptions.property == nil)
        #expect(withOptions.problem?.severity == .warning)
    }
}
