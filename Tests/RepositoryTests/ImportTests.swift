import Testing

@Suite("Imports keep the layers apart")
struct ImportTests {
    /// The modules that each target may import. Every target must be listed.
    static let allowed: [String: Set<String>] = [
        "CloudKitRules": [],
        "LarderModel": [
            "CloudKitRules", "FoundationEssentials", "Glibc", "Swift", "Synchronization",
        ],
        "LarderQuery": [
            "FoundationEssentials", "Glibc", "LarderModel", "Swift", "Synchronization",
        ],
        "LarderFiles": ["CLinux", "Glibc", "LarderModel"],
        "LarderWire": [
            "FoundationEssentials", "Glibc", "LarderModel", "LarderQuery", "CLarderProto",
            "CProtobufC",
        ],
        "LarderSQL": [
            "CPCRE2", "FoundationEssentials", "Glibc", "LarderModel", "LarderQuery",
            "Synchronization",
        ],
        "LarderStore": [
            "FoundationEssentials", "Swift", "Glibc", "Synchronization", "LarderModel",
            "LarderQuery",
            "LarderFiles", "LarderSQL", "CSQLite", "CLinux", "Dispatch",
        ],
        "LarderPostgres": [
            "CPQ", "Dispatch", "FoundationEssentials", "Glibc", "LarderModel", "LarderQuery",
            "LarderSQL", "Synchronization",
        ],
        "LarderServer": [
            "FoundationEssentials", "Glibc", "CLinux", "Dispatch", "Synchronization",
            "LarderModel", "LarderQuery", "LarderWire", "NIOCore", "NIOPosix", "Logging",
            "CoreMetrics",
            "ServiceLifecycle",
        ],
        "LarderClient": [
            "FoundationEssentials", "Glibc", "Observation", "Synchronization", "LarderModel",
            "LarderQuery",
            "LarderFiles", "LarderWire",
        ],
        "LarderRecordExpansion": [
            "SwiftDiagnostics", "SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros",
        ],
        "LarderRecordMacros": [
            "LarderRecordExpansion", "SwiftCompilerPlugin", "SwiftSyntaxMacros",
        ],
        "LarderRecords": ["FoundationEssentials", "LarderClient", "Synchronization"],
        "LarderTesting": [
            "FoundationEssentials", "Glibc", "Synchronization", "LarderClient", "LarderQuery",
            "LarderServer",
            "LarderStore", "Logging",
        ],
        "LarderObjects": [
            // Foundation for a recursive lock.
            "Foundation", "FoundationEssentials", "Glibc", "Observation", "Synchronization",
            "LarderModel", "LarderQuery",
            "LarderFiles", "LarderClient", "LarderServer", "LarderStore", "Logging",
        ],
        "SwiftDataExpansion": [
            "CloudKitRules", "SwiftDiagnostics", "SwiftIfConfig", "SwiftSyntax",
            "SwiftSyntaxBuilder", "SwiftSyntaxMacros",
        ],
        "SwiftDataMacros": ["SwiftCompilerPlugin", "SwiftDataExpansion", "SwiftSyntaxMacros"],
        "SwiftData": [
            "CloudKitRules", "Dispatch", "Foundation", "Observation", "Synchronization",
            "LarderModel", "LarderQuery", "LarderClient", "LarderObjects",
        ],
        "LarderData": [
            "Foundation", "Observation", "SwiftData", "LarderModel", "LarderClient",
            "LarderObjects",
        ],
        "CoreDataPredicates": ["Foundation", "LarderModel", "LarderQuery", "LarderStore"],
        "CoreData": [
            "Foundation", "Synchronization", "CoreDataPredicates", "LarderClient", "LarderModel",
            "LarderQuery",
            "LarderObjects",
            "XcodeModels",
        ],
        "XcodeModels": [
            "FoundationEssentials", "Glibc", "CExpat", "LarderModel", "LarderQuery",
            "LarderPrograms",
        ],
        "SwiftDataKit": ["CoreData", "SwiftData", "LarderModel", "LarderObjects"],
        "LarderPrograms": ["Glibc", "LarderModel", "LarderQuery"],
        "LarderDaemon": [
            "FoundationEssentials", "Glibc", "CLinux", "LarderModel", "LarderQuery",
            "LarderPostgres", "LarderPrograms",
            "LarderServer", "LarderStore", "ArgumentParser", "Logging", "ServiceLifecycle",
            "UnixSignals",
        ],
        "LarderCLI": [
            "FoundationEssentials", "Glibc", "CEdit", "CLinux", "Synchronization", "LarderModel",
            "LarderQuery",
            "LarderFiles", "LarderClient", "LarderPrograms", "LarderServer", "LarderStore",
            "LarderWire", "XcodeModels", "ArgumentParser", "Logging",
        ],
    ]
    static let systemModules: Set<String> = [
        "CSQLite", "CProtobufC", "CPCRE2", "CLinux", "CEdit", "CExpat", "CLarderProto", "CPQ",
    ]

    @Test("a target imports only the modules of its list")
    func imports() throws {
        for file in try Repository.files(under: ["Sources"], endings: [".swift"]) {
            let target = String(file.path.split(separator: "/")[1])
            guard let allowed = Self.allowed[target] else {
                Issue.record("\(file.path): the target has no list of allowed imports")
                continue
            }
            for module in importedModules(file.lines) where !allowed.contains(module) {
                Issue.record("\(file.path): \(target) may not import \(module)")
            }
        }
    }

    @Test("end-to-end tests and benchmarks import only the client and the model")
    func outside() throws {
        let folders = ["Tests/EndToEndTests"] + Repository.benchmarks
        for file in try Repository.files(under: folders, endings: [".swift"]) {
            for module in importedModules(file.lines) where module.hasPrefix("Larder") {
                #expect(
                    ["LarderClient", "LarderModel"].contains(module), "\(file.path): \(module)")
            }
        }
    }

    @Test("every listed target is declared in Package.swift")
    func targets() throws {
        let manifest = try Repository.read("Package.swift").lines.joined(separator: "\n")
        for target in Set(Self.allowed.keys).union(Self.systemModules) {
            #expect(manifest.contains("name: \"\(target)\""), "\(target) is not in Package.swift")
        }
    }

    private func importedModules(_ lines: [Substring]) -> [String] {
        lines.compactMap { line in
            let words = line.split(separator: " ")
            guard let keyword = words.firstIndex(of: "import"),
                words[..<keyword].allSatisfy({
                    $0.hasPrefix("@") || ["public", "internal", "package"].contains($0)
                }),
                let module = words.last
            else { return nil }
            return String(module.split(separator: ".")[0])
        }
    }
}
