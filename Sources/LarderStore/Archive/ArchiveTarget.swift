import FoundationEssentials
import LarderModel

/// The state of a store to restore from an archive.
package enum ArchiveTarget: Hashable, Sendable {
    /// After the last commit in the archive.
    case latest
    /// After the commit of this transaction. A commit of several transactions is restored as a
    /// whole: no reader ever saw a part of it.
    case transaction(Int64)
    /// After the last commit that is not later than this time.
    case time(Date)
}

/// The base and the segments that are needed to restore one state.
struct ArchivePlan {
    let folder: ArchiveFolder
    let base: ArchiveFolder.Entry
    let segments: ArraySlice<ArchiveFolder.Entry>

    /// - Parameter generation: Its number; nil for the newest one that contains the state.
    /// - Throws: `objectNotFound` if the archive does not have the state. The message says which
    ///   it has.
    init(
        _ folder: ArchiveFolder, _ target: ArchiveTarget, generation: Int64?
    ) throws(LarderError) {
        let all = ArchiveGeneration.all(try folder.entries())
        let restorable = all.filter { $0.transactions != nil }
        guard let newest = restorable.last else {
            throw LarderError(
                .objectNotFound, "there is no complete archive in \(folder.path)",
                hint: "give the folder of larderd --archive; its first base copy may be "
                    + "unfinished")
        }
        var candidates = restorable
        if let generation {
            candidates = restorable.filter { $0.number == generation }
            guard !candidates.isEmpty else {
                throw LarderError(
                    .objectNotFound,
                    "the archive has no generation \(generation)",
                    hint: "`larder archive list` prints the generations")
            }
        }
        let chosen: (generation: ArchiveGeneration, base: ArchiveFolder.Entry)?
        switch target {
        case .latest:
            let generation = candidates.last ?? newest
            chosen = generation.bases.last.map { (generation, $0) }
        case .transaction(let number):
            let generation = candidates.last { $0.transactions?.contains(number) ?? false }
            chosen = generation.flatMap { generation in
                generation.bases.last { $0.last <= number }.map { (generation, $0) }
            }
        case .time(let date):
            chosen = try Self.base(
                at: date.timeIntervalSinceReferenceDate, candidates, folder)
        }
        guard let chosen else {
            throw LarderError(
                .objectNotFound, "the archive does not have the \(Self.name(target))",
                hint: "it can be restored to \(try Self.contents(candidates, target, folder))")
        }
        self.folder = folder
        base = chosen.base
        segments = chosen.generation.segments(after: chosen.base)
    }

    private static func name(_ target: ArchiveTarget) -> String {
        switch target {
        case .latest: "last commit"
        case .transaction(let number): "state after transaction \(number)"
        case .time(let date): "state at \(date.text)"
        }
    }

    private static func contents(
        _ generations: [ArchiveGeneration], _ target: ArchiveTarget, _ folder: ArchiveFolder
    ) throws(LarderError) -> String {
        if case .time = target, let base = generations.first?.bases.first {
            let start = try ArchiveFileReader(folder.path(of: base)).header.start.time
            return "times from \(Date(timeIntervalSinceReferenceDate: start).text) on"
        }
        let ranges = generations.compactMap { generation in
            generation.transactions.map {
                "transactions \($0.lowerBound) to \($0.upperBound) (generation "
                    + "\(generation.number))"
            }
        }
        return ranges.suffix(8).joined(separator: ", ")
    }

    /// The newest base that is not later than a time. Whether the time is after the last commit is
    /// found when the segments are read.
    private static func base(
        at time: Double, _ generations: [ArchiveGeneration], _ folder: ArchiveFolder
    ) throws(LarderError) -> (ArchiveGeneration, ArchiveFolder.Entry)? {
        for generation in generations.reversed() {
            for base in generation.bases.reversed() {
                let header = try ArchiveFileReader(folder.path(of: base)).header
                if header.start.time <= time { return (generation, base) }
            }
        }
        return nil
    }
}
