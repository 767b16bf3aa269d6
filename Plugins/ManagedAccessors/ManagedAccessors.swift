import Foundation
import PackagePlugin

/// `swift package managed-accessors`: writes the accessors of `@NSManaged` properties.
///
/// The compiler declares such properties and leaves their accessors to somebody else: Objective-C's
/// runtime on Apple's systems, a file in the target on Linux. The names of the accessors come from
/// the compiler, as the identifiers of the symbols in the target's symbol graph.
@main
struct ManagedAccessors: CommandPlugin {
    private static let fileName = "ManagedAccessors.swift"

    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var arguments = ArgumentExtractor(arguments)
        let names = arguments.extractOption(named: "target")
        guard arguments.remainingArguments.isEmpty else {
            throw Failure("usage: swift package managed-accessors [--target NAME]…")
        }
        let targets = context.package.targets.compactMap { $0 as? SwiftSourceModuleTarget }
        for name in names where !targets.contains(where: { $0.name == name }) {
            throw Failure("the package has no Swift target \(name)")
        }
        for target in targets where names.isEmpty || names.contains(target.name) {
            try write(target)
        }
    }

    private func write(_ target: SwiftSourceModuleTarget) throws {
        let sources = target.sourceFiles(withSuffix: "swift").map(\.url)
        let file = target.directoryURL.appending(path: Self.fileName)
        let managed = try sources.filter {
            guard $0.lastPathComponent != Self.fileName else { return false }
            return try String(contentsOf: $0, encoding: .utf8).contains("@NSManaged")
        }
        let old = try? String(contentsOf: file, encoding: .utf8)
        // A file for properties that have changed would not compile.
        if old != nil { try FileManager.default.removeItem(at: file) }
        guard !managed.isEmpty else { return }
        do {
            let text = try text(target, imports: imports(of: managed))
            try text.write(to: file, atomically: true, encoding: .utf8)
            print("\(text == old ? "unchanged" : "written"): \(file.path)")
        } catch {
            try old?.write(to: file, atomically: true, encoding: .utf8)
            throw error
        }
    }

    private func text(_ target: SwiftSourceModuleTarget, imports: [String]) throws -> String {
        let graph: SymbolGraph
        do {
            let found = try packageManager.getSymbolGraph(
                for: target,
                options: .init(
                    minimumAccessLevel: .private, includeSynthesized: false, includeSPI: true,
                    emitExtensionBlocks: false))
            graph = try SymbolGraph(in: found.directoryURL, moduleName: target.moduleName)
        } catch {
            throw Failure("the symbols of \(target.name) cannot be found: \(error)")
        }
        return try AccessorFile(graph, imports: imports).text
    }

    /// The modules that the files import, in which the types of their properties are.
    private func imports(of files: [URL]) throws -> [String] {
        let lines = try files.flatMap {
            try String(contentsOf: $0, encoding: .utf8).split(separator: "\n")
        }
        let imports = lines.map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.contains("import ") && !$0.hasPrefix("//") && !$0.contains("\"") }
        return Set(imports).sorted()
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
