import InputFuzzing
import TestSupport
import Testing

/// The inputs of the fuzzers without libFuzzer. See `docs/testing.md`.
@Suite("Inputs from outside")
struct InputTests {
    @Test(
        "each input in a fuzzer's corpus is accepted or rejected without a fault",
        arguments: FuzzedInputs.names)
    func replay(name: String) throws {
        let input = try #require(try FuzzedInputs.input(named: name))
        let corpus = try FuzzedInputs.corpus(name)
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
        let corpus = try FuzzedInputs.corpus(name).map(\.bytes)
        // A store takes a hundred times as long as another input.
        let count = RandomTesting.iterations() / (name == StoreInput.name ? 100 : 4)
        for _ in 0..<count {
            let bytes = Fuzzing.mutated(
                corpus.randomElement(using: &generator) ?? [],
                donor: corpus.randomElement(using: &generator) ?? [], using: &generator)
            #expect(input.fault(of: bytes) == nil, "\(bytes)")
        }
    }

    @Test("messages with extreme integers are handled as they should be")
    func numbers() throws {
        let input = MessageInput()
        var generator = SeededGenerator.fromEnvironment("messages with extreme integers")
        let corpus = try FuzzedInputs.corpus(MessageInput.name).map(\.bytes)
        var acceptedCount = 0
        for _ in 0..<RandomTesting.iterations() {
            let bytes = MessageMutation.changed(
                corpus.randomElement(using: &generator) ?? [], using: &generator)
            #expect(input.fault(of: bytes) == nil, "\(bytes)")
            if MessageMutation(Array(bytes.dropFirst())) != nil { acceptedCount += 1 }
        }
        #expect(acceptedCount > RandomTesting.iterations() / 2)
    }

    @Test("each kind of fuzzed input has a corpus, and each corpus has a kind")
    func folders() throws {
        let folders = try FuzzedInputs.corpusNames()
        #expect(Set(folders) == Set(FuzzedInputs.names))
    }
}
