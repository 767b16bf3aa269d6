import Testing

/// A program links the targets that its own depends on in Package.swift.
@Suite("Programs link only the modules that they name")
struct LinkTests {
    /// The dependencies of each target, by the quoted names in its declaration.
    private func dependencies() throws -> [String: Set<String>] {
        let manifest = try Repository.read("Package.swift").lines.joined(separator: "\n")
        var graph: [String: Set<String>] = [:]
        let start = /\.(target|executableTarget|macro|testTarget|systemLibrary)\(\s*name:/
        let starts = manifest.matches(of: start).map(\.range.lowerBound) + [manifest.endIndex]
        for (from, to) in zip(starts, starts.dropFirst()) {
            let names = manifest[from..<to].matches(of: /"([A-Za-z0-9]+)"/).map { String($0.1) }
            guard let name = names.first else { continue }
            graph[name] = Set(names.dropFirst())
        }
        return graph
    }

    private func linked(_ target: String, _ graph: [String: Set<String>]) -> Set<String> {
        var all: Set<String> = []
        var pending = [target]
        while let next = pending.popLast() {
            guard all.insert(next).inserted else { continue }
            pending += graph[next] ?? []
        }
        return all
    }

    @Test(
        "nothing of Core Data is linked into a program with another product alone",
        arguments: [
            "LarderClient", "LarderRecords", "LarderTesting", "SwiftData", "LarderData",
            "LarderDaemon",
        ])
    func coreData(_ target: String) throws {
        let graph = try dependencies()
        let all = linked(target, graph)
        #expect(all.contains("LarderModel"))
        for module in ["CoreData", "CoreDataPredicates", "SwiftDataKit", "XcodeModels", "CExpat"] {
            #expect(graph[module] != nil)
            #expect(!all.contains(module), "\(target) links \(module)")
        }
        #expect(linked("SwiftDataKit", graph).isSuperset(of: ["CoreData", "CoreDataPredicates"]))
    }
}
