import FoundationEssentials
import Glibc
import LarderModel

/// The folder of an archive: the names of its files.
///
/// `larder-000001-0000000007-51-60.segment` is the seventh segment of generation 1 and contains
/// the transactions 51 to 60; `larder-000001-0000000007-60.base` is the whole store after it.
struct ArchiveFolder {
    struct Entry: Hashable, Comparable {
        let kind: ArchiveHeader.Kind
        let generation: Int64
        let sequence: Int64
        /// The first transaction that is not in the files before this one.
        let first: Int64
        /// The last transaction. It is before the first one if the file has only other commits,
        /// such as deletions from the history.
        let last: Int64

        /// By generation and sequence; a base comes after the last segment that it contains.
        static func < (left: Entry, right: Entry) -> Bool {
            (left.generation, left.sequence, left.kind.rawValue)
                < (right.generation, right.sequence, right.kind.rawValue)
        }

        var name: String {
            let start = "larder-\(padded(generation, 6))-\(padded(sequence, 10))-"
            return switch kind {
            case .segment: "\(start)\(first)-\(last).segment"
            case .base: "\(start)\(last).base"
            }
        }

        private func padded(_ number: Int64, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
    }

    static let unfinishedSegment = "unfinished.segment"
    static let unfinishedBase = "unfinished.base"
    static let lockName = "larder-archive.lock"
    static let closedName = "larder-archive.closed"

    let path: String

    func path(of name: String) -> String { "\(path)/\(name)" }

    func path(of entry: Entry) -> String { path(of: entry.name) }

    /// The finished files, sorted. Files with other names are ignored.
    ///
    /// - Throws: `storageFailed` or `permissionDenied` if the folder cannot be read.
    func entries() throws(LarderError) -> [Entry] {
        guard access(path, R_OK | X_OK) == 0 else { throw RawFile.failure(path, "read", errno) }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw LarderError(
                .storageFailed, "\(path) cannot be read as a folder",
                hint: "give the folder of an archive")
        }
        return names.compactMap(Self.entry).sorted()
    }

    /// nil for the name of another file.
    static func entry(_ name: String) -> Entry? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, name.hasPrefix("larder-") else { return nil }
        let numbers = parts[0].split(separator: "-", omittingEmptySubsequences: false)
            .dropFirst().map { Int64($0) ?? -1 }
        guard numbers.allSatisfy(ArchiveRecord.numbersAllowed.contains) else { return nil }
        let entry: Entry
        switch (parts[1], numbers.count) {
        case ("segment", 4):
            entry = Entry(
                kind: .segment, generation: numbers[0], sequence: numbers[1], first: numbers[2],
                last: numbers[3])
        case ("base", 3):
            entry = Entry(
                kind: .base, generation: numbers[0], sequence: numbers[1], first: numbers[2],
                last: numbers[2])
        default: return nil
        }
        return entry.name == name ? entry : nil
    }

    /// The size of files; one that is missing has none.
    func byteCount(of entries: [Entry]) -> Int64 {
        entries.reduce(0) { sum, entry in
            var status = stat()
            return stat(path(of: entry), &status) == 0 ? sum + Int64(status.st_size) : sum
        }
    }

    /// Gives a finished file its name, durably.
    func rename(_ name: String, to entry: Entry) throws(LarderError) {
        guard Glibc.rename(path(of: name), path(of: entry)) == 0 else {
            throw RawFile.failure(path(of: entry), "created", errno)
        }
        try sync()
    }

    func remove(_ entry: Entry) throws(LarderError) {
        guard unlink(path(of: entry)) == 0 || errno == ENOENT else {
            throw RawFile.failure(path(of: entry), "deleted", errno)
        }
    }

    /// Makes the names in the folder durable.
    func sync() throws(LarderError) { try RawFile.sync(folder: path) }
}

/// The files of an archive that were made without a gap.
struct ArchiveGeneration {
    let number: Int64
    var bases: [ArchiveFolder.Entry] = []
    var segments: [ArchiveFolder.Entry] = []

    /// The first transaction to which the store can be restored, and the last one; nil if there is
    /// no base yet.
    var transactions: ClosedRange<Int64>? {
        guard let first = bases.first?.last else { return nil }
        return first...max(first, segments.last?.last ?? first, bases.last?.last ?? first)
    }

    /// By number, the oldest first.
    static func all(_ entries: [ArchiveFolder.Entry]) -> [ArchiveGeneration] {
        var generations: [ArchiveGeneration] = []
        for entry in entries {
            if generations.last?.number != entry.generation {
                generations.append(ArchiveGeneration(number: entry.generation))
            }
            switch entry.kind {
            case .base: generations[generations.count - 1].bases.append(entry)
            case .segment: generations[generations.count - 1].segments.append(entry)
            }
        }
        return generations
    }

    /// A base, and the segments from it to the next base, if there is one.
    struct Part {
        let base: ArchiveFolder.Entry
        let segments: [ArchiveFolder.Entry]
        let nextBase: ArchiveFolder.Entry?
    }

    /// The files from the first base on, each of them once.
    var parts: [Part] {
        bases.indices.map { index in
            let next = index + 1 < bases.count ? bases[index + 1] : nil
            let segments = segments(after: bases[index]).prefix {
                $0.sequence <= next?.sequence ?? .max
            }
            return Part(base: bases[index], segments: Array(segments), nextBase: next)
        }
    }

    /// The segments that follow a base.
    func segments(after base: ArchiveFolder.Entry) -> ArraySlice<ArchiveFolder.Entry> {
        segments[(segments.firstIndex { $0.sequence > base.sequence } ?? segments.endIndex)...]
    }
}
