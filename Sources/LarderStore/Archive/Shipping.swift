import Dispatch
import FoundationEssentials
import Glibc
import LarderModel
import Synchronization

/// Runs the administrator's command for each finished file, in the order of their completion, on a
/// queue of its own. A file for which it fails is tried again until it succeeds.
///
/// The folder records the last segment and the last base for which it succeeded. After a crash, the
/// command may run a second time for one file.
final class Shipping: Sendable {
    private static let recordName = "larder-archive.shipped"
    private static let retrySeconds = 5

    private struct State {
        var waiting: [ArchiveFolder.Entry] = []
        /// The last shipped file of each kind.
        var shipped: [ArchiveHeader.Kind: ArchiveFolder.Entry] = [:]
        var isWorking = false
        var isClosed = false
        var isFailing = false
    }

    private let command: ShippingCommand
    private let folder: ArchiveFolder
    private let report: @Sendable (ArchiveEvent) -> Void
    private let queue = DispatchQueue(label: "larder archive command", qos: .utility)
    private let state = Mutex(State())

    init(
        _ command: ShippingCommand, _ folder: ArchiveFolder,
        report: @escaping @Sendable (ArchiveEvent) -> Void
    ) {
        self.command = command
        self.folder = folder
        self.report = report
        guard let file = try? RawFile(reading: folder.path(of: Self.recordName)),
            let bytes = try? file.read(at: 0, 1_024)
        else { return }
        state.withLock { state in
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
                guard let entry = ArchiveFolder.entry(String(line)) else { continue }
                state.shipped[entry.kind] = entry
            }
        }
    }

    /// The files for which the command has not succeeded yet.
    var waiting: Set<ArchiveFolder.Entry> { state.withLock { Set($0.waiting) } }

    /// Adds finished files, except those that were shipped before.
    func append(_ entries: [ArchiveFolder.Entry]) {
        let starts = state.withLock { state in
            state.waiting += entries.filter { entry in
                state.shipped[entry.kind].map { $0 < entry } ?? true
            }
            guard !state.isWorking, !state.isClosed, !state.waiting.isEmpty else { return false }
            state.isWorking = true
            return true
        }
        if starts { queue.async { self.work() } }
    }

    /// Starts no other command. A command that runs is not waited for, and runs to its end.
    func close() { state.withLock { $0.isClosed = true } }

    private func work() {
        while let entry = next() {
            let problem = command.run(path: folder.path(of: entry), name: entry.name)
            if let problem {
                failed(entry, problem)
                queue.asyncAfter(deadline: .now() + .seconds(Self.retrySeconds)) { self.work() }
                return
            }
            let wasFailing = state.withLock { state in
                state.waiting.removeFirst()
                state.shipped[entry.kind] = entry
                defer { state.isFailing = false }
                return state.isFailing
            }
            record()
            if wasFailing {
                report(
                    ArchiveEvent(
                        .recovery, "archive: the command works again"))
            }
        }
    }

    private func next() -> ArchiveFolder.Entry? {
        state.withLock { state in
            guard !state.isClosed, let entry = state.waiting.first else {
                state.isWorking = false
                return nil
            }
            return entry
        }
    }

    private func failed(_ entry: ArchiveFolder.Entry, _ problem: String) {
        let isFirst = state.withLock { state in
            defer { state.isFailing = true }
            return !state.isFailing
        }
        guard isFirst else { return }
        report(
            ArchiveEvent(
                .failure,
                "the archive command failed for \(entry.name): \(problem); it is "
                    + "repeated every \(Self.retrySeconds) seconds"))
    }

    /// A file of two lines, replaced as a whole. If that fails, the command runs again after a
    /// restart.
    private func record() {
        let names = state.withLock { $0.shipped.values.map(\.name).sorted() }
        let unfinished = folder.path(of: Self.recordName + ".unfinished")
        do throws(LarderError) {
            let file = try RawFile(creating: unfinished)
            try file.write(Array((names.joined(separator: "\n") + "\n").utf8), at: 0)
            _ = rename(unfinished, folder.path(of: Self.recordName))
        } catch {}
    }
}
