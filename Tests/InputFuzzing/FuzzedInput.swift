import FoundationEssentials

/// One kind of input from outside, and what must hold for any bytes of it.
///
/// `scripts/fuzz` runs each kind under libFuzzer, and every test run replays its corpus. A crash,
/// a leak, ten seconds for one input and 2 GiB of memory are faults too; the fuzzer finds these.
public protocol FuzzedInput {
    /// The name of its fuzzer and of its folder in `Corpus`.
    static var name: String { get }

    /// Prepares what all inputs of the kind share.
    init() throws

    /// Handles an input as the product does.
    ///
    /// - Returns: What is wrong; nil if the input was accepted or rejected as it should be.
    func fault(of bytes: [UInt8]) -> String?
}

public enum FuzzedInputs {
    private static var all: [any FuzzedInput.Type] {
        [
            FrameInput.self, MessageInput.self, PredicateInput.self, SchemaInput.self,
            StoreInput.self,
        ]
    }

    public static var names: [String] { all.map { $0.name } }

    private static let corpora = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Corpus").path

    /// The names of the folders of inputs.
    public static func corpusNames() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: corpora)
    }

    /// The inputs of a kind that are in the repository.
    public static func corpus(_ name: String) throws -> [(file: String, bytes: [UInt8])] {
        let folder = "\(corpora)/\(name)"
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { file in
            (file, [UInt8](try Data(contentsOf: URL(filePath: "\(folder)/\(file)"))))
        }
    }

    /// The kind with this name; nil if there is none.
    public static func input(named name: String) throws -> (any FuzzedInput)? {
        for kind in all where kind.name == name { return try kind.init() }
        return nil
    }
}
