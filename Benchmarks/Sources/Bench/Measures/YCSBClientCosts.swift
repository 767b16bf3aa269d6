import FoundationEssentials
import LarderClient
import LarderModel
import Synchronization

/// The YCSB workloads A and C through `LarderClient`, with a thread per connection: what a program
/// in Swift gets, where the client shares the processors with the server. Not judged, since the
/// peers have no client like it.
struct YCSBClientCosts {
    let server: Server
    /// Larder's load generator, which writes the sequence of operations.
    let driver: Peer
    let plan: YCSB.Plan

    func measure(_ run: Run) throws {
        let connections = plan.connections[0]
        let clients = try (0..<connections).map { _ in try server.connect() }
        for workload in ["A", "C"] {
            let path = run.path("sequence")
            let count = run.size(100_000, quick: 5_000)
            _ = try driver.sample("sequence \(workload) \(count) 1 \(path)")
            let operations = try Operation.read(path)
            try run.compare(
                "ycsb \(workload) zipfian, \(connections) connections, through LarderClient",
                unit: "/s", rounds: plan.rounds, ours: { try throughput(clients, operations) },
                [
                    Rival("the same by the load generator in C") {
                        let command = "run \(workload) zipfian \(connections) \(plan.seconds) 0 1"
                        let values = try driver.values(command, count: 4)
                        return Sample(value: values[0], checksum: 0)
                    }
                ])
        }
    }

    private struct Operation {
        var isUpdate: Bool
        var number: Int64

        /// Reads pairs of a kind (0 is a read, 1 an update) and a number.
        static func read(_ path: String) throws -> [Operation] {
            let data = try Data(contentsOf: URL(filePath: path))
            return data.withUnsafeBytes { bytes in
                stride(from: 0, to: bytes.count - 15, by: 16).map { offset in
                    Operation(
                        isUpdate: bytes.load(fromByteOffset: offset, as: Int64.self) == 1,
                        number: bytes.load(fromByteOffset: offset + 8, as: Int64.self))
                }
            }
        }
    }

    private func throughput(_ clients: [StoreClient], _ operations: [Operation]) throws -> Sample {
        let next = Atomic(0)
        let end = ContinuousClock.now + .seconds(plan.seconds)
        let time = try microseconds {
            try inThreads(clients.count) { index in
                while ContinuousClock.now < end {
                    let number = next.add(1, ordering: .relaxed).oldValue
                    let operation = operations[number % operations.count]
                    try Self.perform(operation, number, clients[index])
                }
            }
        }
        return Sample(value: Double(next.load(ordering: .relaxed)) / time * 1e6, checksum: 0)
    }

    private static func perform(
        _ operation: Operation, _ number: Int, _ client: StoreClient
    ) throws {
        let identifier = PersistentIdentifier(
            store: client.server.storeIdentifier, entityName: "User", key: operation.number)
        if operation.isUpdate {
            let digits = String(number)
            let text = digits + String(repeating: "x", count: 100 - digits.utf8.count)
            _ = try client.update(identifier, ["field\(number % 10)": .string(text)])
        } else {
            guard try client.object(for: identifier) != nil else {
                throw Problem("ycsb: record \(operation.number) is missing")
            }
        }
    }
}
