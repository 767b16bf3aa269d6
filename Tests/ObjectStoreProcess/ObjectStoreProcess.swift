import Foundation
import LarderModel
import LarderObjects
import LarderQuery
import Synchronization

/// A process that opens a store file as a container does, for tests with several of them:
/// `ObjectStoreProcess FILE`. It replies to each command on standard input with a line.
///
///     owner             whether it serves the file: 1 or 0
///     insert NAME       saves an object
///     names             the number of objects and of distinct names, and a checksum of the names
///     watch             observes the commits from now on
///     watched           how many were observed, the first and last one, and errors in the order
///     work SECONDS N    N threads save and read, each with a context of its own; a line `A NAME`
///                       for each save that has returned, then the longest time of a call in
///                       milliseconds
///     texts             the texts of the shared entries in each of these contexts
///
/// Entries whose names begin with `shared-` are changed by all contexts.
@main
struct ObjectStoreProcess {
    let store: any ObjectStore
    let path: String
    private let watch = CommitWatch()

    static func main() {
        guard CommandLine.arguments.count == 2 else { exit(64) }
        let path = CommandLine.arguments[1]
        do {
            var options = StoreFileOptions()
            options.client.name = "process \(getpid())"
            let process = ObjectStoreProcess(
                store: try StoreFile.open(path: path, schema: try schema(), options: options),
                path: path)
            say("open")
            try process.run()
        } catch {
            say("error \(error)")
            exit(1)
        }
    }

    static func schema() throws -> Schema {
        try SchemaFile.schema(
            parsing: """
                { "version": "1.0.0", "entities": [ { "name": "Entry", "attributes": [
                    { "name": "name", "type": "string" },
                    { "name": "count", "type": "int64", "default": 0 },
                    { "name": "text", "type": "string", "optional": true } ] } ] }
                """)
    }

    private func run() throws {
        var observation: (any AnyObject & Sendable)?
        var workers: [Worker] = []
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            switch words.first {
            case "owner": say(StoreFile.isOwner(ofStoreAt: path) ? "1" : "0")
            case "insert":
                try insert(words[1])
                say("saved")
            case "names": say(try names())
            case "watch":
                observation = store.observeCommits { [watch] in watch.add($0.id) }
                say("watching")
            case "watched": say(watch.report)
            case "texts": say(workers.map { $0.texts() }.joined(separator: " "))
            case "work":
                workers = try work(
                    seconds: Double(words[1]) ?? 1, threadCount: Int(words[2]) ?? 1)
            default: say("error unknown command")
            }
        }
        withExtendedLifetime(observation) {}
    }

    private func insert(_ name: String) throws(LarderError) {
        let entry = PersistentIdentifier(temporary: "e", entityName: "Entry")
        _ = try store.save(ChangeSet([.insert(entry, values: ["name": .string(name)])]))
    }

    private func names() throws -> String {
        let batches = try store.batches(.fetch(Fetch("Entry")), QueryParameters())
        let names = batches.flatMap { $0.records(store: store.identifier) }.compactMap {
            if case .string(let name)? = $0.values["name"] { name } else { nil }
        }.sorted()
        var checksum: UInt64 = 14_695_981_039_346_656_037
        for byte in names.joined(separator: "\n").utf8 {
            checksum = (checksum ^ UInt64(byte)) &* 1_099_511_628_211
        }
        return "\(names.count) \(Set(names).count) \(checksum)"
    }

    // MARK: Work

    private func work(seconds: Double, threadCount: Int) throws -> [Worker] {
        let longest = Mutex(0.0)
        let took = { @Sendable (time: Double) in longest.withLock { $0 = max($0, time) } }
        let model = ObjectModel(entriesOf: store, try Self.schema())
        let group = DispatchGroup()
        let workers = (0..<threadCount).map { Worker(model, prefix: "\(getpid())-\($0)") }
        for worker in workers {
            group.enter()
            Thread {
                Self.work(seconds, worker, took)
                group.leave()
            }.start()
        }
        group.wait()
        say("worked \(Int(longest.withLock { $0 } * 1_000))")
        return workers
    }

    private static func work(_ seconds: Double, _ worker: Worker, _ took: (Double) -> Void) {
        let end = Date(timeIntervalSinceNow: seconds)
        do throws(LarderError) {
            try measured(took) { () throws(LarderError) in try worker.begin() }
            var number = 0
            while Date() < end {
                number += 1
                let name = try measured(took) { () throws(LarderError) in try worker.save() }
                say("A \(name)")
                guard number.isMultiple(of: 4) else { continue }
                _ = try measured(took) { () throws(LarderError) in try worker.count() }
            }
        } catch {
            say("E \(error.message)")
        }
    }
}

private func measured<Result>(
    _ took: (Double) -> Void, _ body: () throws(LarderError) -> Result
) throws(LarderError) -> Result {
    let start = Date()
    defer { took(Date().timeIntervalSince(start)) }
    return try body()
}

/// Writes a line at once, so that it is not lost when the process is killed.
private func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}

/// The transactions that an observer was called for.
private final class CommitWatch: Sendable {
    private struct State {
        var first: Int64 = 0
        var last: Int64 = 0
        var count = 0
        var errors = 0
    }

    private let state = Mutex(State())

    func add(_ number: Int64) {
        state.withLock { state in
            if state.count == 0 { state.first = number }
            if state.count > 0, number != state.last + 1 { state.errors += 1 }
            state.last = number
            state.count += 1
        }
    }

    var report: String {
        state.withLock { "\($0.count) \($0.first) \($0.last) \($0.errors)" }
    }
}
