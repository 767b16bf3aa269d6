import Foundation

/// A process that works on the notes in a store file, for tests with several of them: with
/// SwiftData, `ModelProcess swiftdata FILE`, or with Core Data, `ModelProcess coredata FILE`. It
/// replies to each command on standard input with a line:
///
///     insert NAME       saves a note; the reply is its URI
///     set NAME PAGES    changes a note, and saves
///     delete NAME       deletes a note, and saves
///     list              the notes that a fetch finds, by name
///     hold              keeps the notes from now on; the reply is their number
///     held              the notes that are kept, as the context has them, without a fetch
///     title URI         the name of the note that a URI leads to
///     history           the transactions: authors, and kinds of changes
///     announced         how many commits were announced since the start
@main
struct ModelProcess {
    static func main() {
        guard CommandLine.arguments.count == 3 else { exit(64) }
        let url = URL(filePath: CommandLine.arguments[2])
        do {
            let notes: any Notes =
                CommandLine.arguments[1] == "swiftdata"
                ? try ModelNotes(at: url) : try ManagedNotes(at: url)
            say("open")
            while let line = readLine() { say(reply(to: line, notes)) }
        } catch {
            say("error \(error)")
            exit(1)
        }
    }

    private static func reply(to line: String, _ notes: any Notes) -> String {
        let words = line.split(separator: " ").map(String.init)
        do {
            switch (words.first, words.count) {
            case ("insert", 2): return try notes.insert(words[1])
            case ("set", 3):
                try notes.set(words[1], Int(words[2]) ?? 0)
                return "saved"
            case ("delete", 2):
                try notes.delete(words[1])
                return "saved"
            case ("list", 1): return try notes.list()
            case ("hold", 1): return "\(try notes.hold())"
            case ("held", 1): return notes.held()
            case ("title", 2):
                guard let uri = URL(string: words[1]) else { return "error no URI" }
                return try notes.title(at: uri) ?? "none"
            case ("history", 1): return try notes.history()
            case ("announced", 1): return "\(notes.announced.value)"
            default: return "error unknown command"
            }
        } catch {
            return "error \((error as NSError).localizedDescription)"
        }
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}

/// The notes of a store, in the words of one of the modules.
protocol Notes {
    var announced: Counter { get }

    func insert(_ name: String) throws -> String
    func set(_ name: String, _ pages: Int) throws
    func delete(_ name: String) throws
    func list() throws -> String
    func hold() throws -> Int
    func held() -> String
    func title(at uri: URL) throws -> String?
    func history() throws -> String
}

struct UnknownNote: LocalizedError {
    let name: String
    var errorDescription: String? { "there is no note \(name)" }
}

/// Counts the notifications of a name.
///
/// Sendable unchecked: the number is behind a lock.
final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0

    init(_ name: Notification.Name) {
        _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
            [weak self] _ in self?.add()
        }
    }

    private func add() { lock.withLock { count += 1 } }

    var value: Int { lock.withLock { count } }
}
