import FoundationEssentials
import InputFuzzing
import TestSupport
import Testing

/// The inputs of the fuzzers without libFuzzer. See `docs/testing.md`.
@Suite("Inputs from outside")
struct InputTests {
    private static let corpora = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "InputFuzzing/Corpus").path

    private static func corpus(_ name: String) throws -> [(file: String, bytes: [UInt8])] {
        let folder = "\(corpora)/\(name)"
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { file in
            (file, [UInt8](try Data(contentsOf: URL(filePath: "\(folder)/\(file)"))))
        }
    }

    @Test(
        "each input in a fuzzer's corpus is accepted or rejected without a fault",
        arguments: FuzzedInputs.names)
    func replay(name: String) throws {
        let input = try #require(try FuzzedInputs.input(named: name))
        let corpus = try Self.corpus(name)
        #expect(corpus.count > 20)
        for (file, bytes) in corpus {
            #expect(input.fault(of: bytes) == nil, "\(name)/\(file)")
        }
    }

    @Test(
        "each random change of a corpus input is accepted or rejected without a fault",
        arguments: FuzzedInputs.names)
    func mutations(name: String) throws {
        let input = try #require(try FuzzedInputs.input(named: name))
        var generator = SeededGenerator.fromEnvironment("changed \(name)")
        let corpus = try Self.corpus(name).map(\.bytes)
        // A store takes a hundred times as long as another input.
        let count = RandomTesting.iterations() / (name == StoreInput.name ? 100 : 4)
        for _ in 0..<count {
            let bytes = Fuzzing.mutated(
                corpus.randomElement(using: &generator) ?? [],
                donor: corpus.randomElement(using: &generator) ?? [], using: &generator)
            #expect(input.fault(of: bytes) == nil, "\(bytes)")
        }
    }

    @Test("each kind of fuzzed input has a corpus, and each corpus has a kind")
    func folders() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpora)
        #expect(Set(folders) == Set(FuzzedInputs.names))
    }
}
