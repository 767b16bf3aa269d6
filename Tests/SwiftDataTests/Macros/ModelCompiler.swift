import Foundation
import Glibc
import Testing

/// Runs the compiler on a source text with models.
enum ModelCompiler {
    /// The errors in a file that imports modules of this build.
    ///
    /// - Parameter imports: The modules that the file imports.
    static func errors(
        _ source: String, _ options: [String] = [], imports: [String] = ["Foundation", "SwiftData"]
    ) throws -> [String] {
        try messages(source, options, imports: imports).filter { $0.contains("error:") }
    }

    /// The errors and warnings in a file that imports modules of this build.
    static func messages(
        _ source: String, _ options: [String] = [], imports: [String] = ["Foundation", "SwiftData"]
    ) throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "larder-models-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "Models.swift").path
        let text = imports.map { "import \($0)\n" }.joined() + source + "\n"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let build = try buildFolder()
        let maps = try moduleMaps(build)
        let arguments =
            [
                "swiftc", "-emit-sil", "-o", "/dev/null", "-parse-as-library", "-swift-version",
                "6", "-no-color-diagnostics", "-diagnostic-style", "llvm", "-package-name",
                "test", "-I", "\(build)/Modules",
                "-load-plugin-executable", "\(build)/SwiftDataMacros-tool#SwiftDataMacros",
            ] + options
            + maps.flatMap {
                ["-Xcc", "-fmodule-map-file=\($0)"]
            }
        let command = (arguments + [file]).map { "'\($0)'" }.joined(separator: " ")
        return try output(of: command).split(separator: "\n").map(String.init).filter {
            $0.contains("error:") || $0.contains("warning:")
        }
    }

    /// The folder of this program's modules.
    private static func buildFolder() throws -> String {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return "/" + program.split(separator: "/").dropLast().joined(separator: "/")
    }

    /// The module maps of all C modules on which SwiftData depends.
    private static func moduleMaps(_ build: String) throws -> [String] {
        let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let built = try FileManager.default.contentsOfDirectory(atPath: build)
            .filter { $0.hasSuffix(".build") && !$0.hasSuffix("-tool.build") }
            .map { "\(build)/\($0)/module.modulemap" }
        let own = try FileManager.default.contentsOfDirectory(atPath: "\(root)/Sources")
            .map { "\(root)/Sources/\($0)/module.modulemap" }
        let checkouts = "\(root)/.build/checkouts"
        let others = [
            "\(checkouts)/swift-atomics/Sources/_AtomicsShims/include/module.modulemap",
            "\(checkouts)/swift-nio/Sources/CNIOWindows/include/module.modulemap",
        ]
        return (built + own + others).filter { FileManager.default.fileExists(atPath: $0) }
    }

    private static func output(of command: String) throws -> String {
        let pipe = try #require(popen(command + " 2>&1", "r"))
        defer { pclose(pipe) }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, pipe)
            if count == 0 { return String(decoding: output, as: UTF8.self) }
            output += buffer[..<count]
        }
    }
}
