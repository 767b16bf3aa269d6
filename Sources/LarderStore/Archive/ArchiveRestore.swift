import FoundationEssentials
import Glibc
import LarderFiles
import LarderModel

/// Makes a store file from an archive.
package struct ArchiveRestore {
    /// The result of a restore.
    package struct Outcome: Hashable, Sendable {
        package var store: UUID
        /// The last transaction in the store; 0 if there is none.
        package var transaction: Int64
        /// When it was committed; nil if there is none.
        package var time: Date?
    }

    /// The commit at which the restore ends: its index among the commits of its file.
    private struct End {
        var sequence: Int64
        var commit: Int
        var moment: ArchiveMoment
        var databasePages: UInt32
    }

    private let plan: ArchivePlan
    private let target: ArchiveTarget

    /// Restores one state of a store into a new file.
    ///
    /// Every file that is needed is verified before anything is written. The store is written under
    /// a temporary name, checked, synced and then renamed.
    ///
    /// - Parameters:
    ///   - generation: The generation of the archive; nil for the newest one with the state.
    ///   - assignsNewIdentifier: Whether the store gets a new identifier, because the original is
    ///     still used. The history gets a new epoch in any case.
    ///   - onProgress: Called often, with the bytes of the archive that the step has read and those
    ///     that it reads.
    /// - Throws: `objectNotFound` if the archive does not have the state, `storageFailed` naming a
    ///   file that is damaged or missing, `storeTooNew`, `fileExists` if there is a file, and
    ///   `storageFull`.
    package static func restore(
        from folder: String, to path: String, _ target: ArchiveTarget, generation: Int64? = nil,
        assignsNewIdentifier: Bool = false, onProgress: RestoreStep.Progress = { _, _, _ in }
    ) throws(LarderError) -> Outcome {
        try Store.checkAbsence(of: path)
        let plan = try ArchivePlan(
            ArchiveFolder(path: folder), target, generation: generation)
        let restore = ArchiveRestore(plan: plan, target: target)
        let end = try restore.verify { onProgress(.verifies, $0, $1) }
        let restored = try Store.restore(
            to: path, from: folder, assignsNewIdentifier: assignsNewIdentifier, onProgress
        ) { file throws(LarderError) in
            try restore.write(to: file, until: end) { onProgress(.writes, $0, $1) }
        }
        return Outcome(
            store: restored.description.identifier, transaction: end.moment.transaction,
            time: end.moment.transaction == 0
                ? nil : Date(timeIntervalSinceReferenceDate: end.moment.time))
    }

    /// Reads and verifies all files to the end of the archive, and finds the commit.
    private func verify(_ onProgress: (Int64, Int64) -> Void) throws(LarderError) -> End {
        let total = plan.folder.byteCount(of: [plan.base] + plan.segments)
        var read: Int64 = 0
        var chain = try ArchiveChain(plan.folder, base: plan.base)
        var found: End?
        var first: ArchiveMoment?
        var isPast = false
        var sequence = chain.sequence
        var index = 0
        func note(_ record: ArchiveFileReader.Record) {
            read += Int64(record.byteCount)
            onProgress(read, total)
            guard case .commit(let moment, let pages) = record else { return }
            let end = End(
                sequence: sequence, commit: index, moment: moment, databasePages: pages)
            index += 1
            if first == nil, moment.transaction > 0 { first = moment }
            switch target {
            case .latest: found = end
            case .transaction(let number):
                if found.map({ $0.moment.transaction < number }) ?? true { found = end }
            case .time(let date):
                if moment.time <= date.timeIntervalSinceReferenceDate {
                    found = end
                } else {
                    isPast = true
                }
            }
        }
        try chain.readBase(plan.base) { record in
            note(record)
            return true
        }
        for entry in plan.segments {
            sequence = entry.sequence
            index = 0
            do throws(LarderError) {
                try chain.readNext(entry) { record in
                    note(record)
                    return true
                }
            } catch {
                // The state is complete without the files after it.
                if try isReached(found, isPast) { break }
                throw error
            }
        }
        guard let found, try isReached(found, isPast) else { throw missing(chain.end) }
        if case .time = target, found.moment.transaction == 0, let first {
            throw tooEarly(first, chain.end)
        }
        return found
    }

    /// Whether the commit that was found is the one to restore, whatever comes later.
    private func isReached(_ found: End?, _ isPast: Bool) throws(LarderError) -> Bool {
        guard let found else { return false }
        return switch target {
        case .latest: plan.segments.isEmpty || found.sequence == plan.segments.last?.sequence
        case .transaction(let number): found.moment.transaction >= number
        case .time(let date):
            isPast || found.moment.time == date.timeIntervalSinceReferenceDate
        }
    }

    private func missing(_ end: ArchiveMoment) -> LarderError {
        let time = Date(timeIntervalSinceReferenceDate: end.time).text
        return LarderError(
            .objectNotFound,
            "the archive ends with transaction \(end.transaction) of \(time), before the state "
                + "to restore",
            hint: "without --at, the store is restored to the end of the archive")
    }

    /// The error of a time before the first commit of an archive that begins with an empty store.
    private func tooEarly(_ first: ArchiveMoment, _ last: ArchiveMoment) -> LarderError {
        let times = [first, last].map { Date(timeIntervalSinceReferenceDate: $0.time).text }
        return LarderError(
            .objectNotFound,
            "the archive begins with transaction \(first.transaction) of \(times[0]), after the "
                + "time to restore",
            hint: "it can be restored to times from \(times[0]) to \(times[1]), and by --at 0 to "
                + "the empty store")
    }

    /// Writes the pages of all commits up to the end.
    private func write(
        to file: NewFile, until end: End, _ onProgress: (Int64, Int64) -> Void
    ) throws(LarderError) {
        let segments = plan.segments.filter { $0.sequence <= end.sequence }
        let total = plan.folder.byteCount(of: [plan.base] + segments)
        var read: Int64 = 0
        var chain = try ArchiveChain(plan.folder, base: plan.base)
        let pageBytes = chain.header.pageBytes
        var index = 0
        var isLastFile = end.sequence == chain.sequence
        func apply(_ record: ArchiveFileReader.Record) throws(LarderError) -> Bool {
            read += Int64(record.byteCount)
            onProgress(read, total)
            switch record {
            case .page(let number, let bytes):
                try file.write(Array(bytes), at: Int(number - 1) * Int(pageBytes))
                return true
            case .commit:
                defer { index += 1 }
                return !(isLastFile && index == end.commit)
            }
        }
        try chain.readBase(plan.base, apply)
        for entry in segments {
            index = 0
            isLastFile = entry.sequence == end.sequence
            try chain.readNext(entry, apply)
        }
        try file.truncate(to: Int(end.databasePages) * Int(pageBytes))
    }
}
