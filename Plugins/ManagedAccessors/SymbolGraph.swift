import Foundation

/// The `@NSManaged` symbols of a module, in the compiler's format for symbols.
struct SymbolGraph {
    struct Symbol: Decodable {
        struct Kind: Decodable { let identifier: String }
        struct Identifier: Decodable { let precise: String }
        struct Fragment: Decodable { let spelling: String }

        let kind: Kind
        let identifier: Identifier
        let pathComponents: [String]
        let accessLevel: String
        let declarationFragments: [Fragment]

        var declaration: String { declarationFragments.map(\.spelling).joined() }
        /// The name of its class, with those of the types around it.
        var className: String { pathComponents.dropLast().joined(separator: ".") }
        /// Its mangled name, without the `$`.
        var mangledName: String { "s" + identifier.precise.dropFirst("s:".count) }
        var isPublic: Bool { accessLevel == "public" || accessLevel == "open" }
    }

    private struct Document: Decodable { let symbols: [Symbol] }

    let properties: [Symbol]
    let functions: [Symbol]

    /// Reads the files of a module: its own, and one for each module that it extends.
    init(in folder: URL, moduleName: String) throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        let own = files.filter {
            $0.lastPathComponent.hasPrefix("\(moduleName).")
                || $0.lastPathComponent.hasPrefix("\(moduleName)@")
        }
        let symbols = try own.flatMap {
            try JSONDecoder().decode(Document.self, from: Data(contentsOf: $0)).symbols
        }
        .filter { $0.declaration.contains("@NSManaged") && $0.identifier.precise.hasPrefix("s:") }
        .sorted { ($0.className, $0.declaration) < ($1.className, $1.declaration) }
        properties = symbols.filter { $0.kind.identifier == "swift.property" }
        functions = symbols.filter { $0.kind.identifier == "swift.method" }
    }
}
