import LarderModel
import LarderQuery
import NIOCore
import Synchronization

/// A copy of the store that the writer's thread makes in steps, between the writes.
///
/// Sendable unchecked: only one thread performs the steps, and it passes the copy on when they are
/// complete. The rest is constant.
final class BackupJob: @unchecked Sendable {
    /// The copy, also an incomplete one, whose release takes long; and the error if there is one.
    typealias Outcome = (copy: BackupCopy?, error: LarderError?)

    let cancellation = ReadCancellation()
    private let slot: BackupQuota.Slot
    private let folder: String
    private let deadline: NIODeadline
    private let done: @Sendable (Outcome) -> Void
    private var copy: BackupCopy?
    private let copiedBytes = Atomic<Int>(0)

    /// - Parameters:
    ///   - folder: The folder of the copy.
    ///   - done: Called once, on the thread of the steps or on that which rejects the job.
    init(
        _ slot: BackupQuota.Slot, in folder: String, deadline: NIODeadline,
        done: @escaping @Sendable (Outcome) -> Void
    ) {
        self.slot = slot
        self.folder = folder
        self.deadline = deadline
        self.done = done
    }

    /// The length of the copy, as far as it is known. It may be read on any thread.
    var byteCount: Int { copiedBytes.load(ordering: .relaxed) }

    /// Copies more of the store, for about this time.
    ///
    /// - Parameter make: Begins a copy in a folder.
    /// - Returns: whether the job is done, with or without success.
    func step(
        timeMax: Duration, make: (String) -> Result<any StoreCopy, LarderError>
    ) -> Bool {
        do throws(LarderError) {
            if cancellation.isCancelled { throw BackupStream.cancelled }
            if deadline <= .now() { throw BackupStream.expired }
            let copy = try begin(make)
            try slot.checkSpace(for: copy.contents.bytesLeft)
            let isLast = try copy.contents.step(timeMax: timeMax)
            copiedBytes.store(copy.contents.byteCount, ordering: .relaxed)
            guard isLast else { return false }
            self.copy = nil
            done((copy, nil))
        } catch {
            reject(error)
        }
        return true
    }

    private func begin(
        _ make: (String) -> Result<any StoreCopy, LarderError>
    ) throws(LarderError) -> BackupCopy {
        if let copy { return copy }
        let begun = BackupCopy(try make(folder).get(), slot)
        copy = begun
        return begun
    }

    /// Ends the job on the thread of the steps.
    func reject(_ error: LarderError) {
        let incomplete = copy
        incomplete?.contents.cancel()
        copy = nil
        done((incomplete, error))
    }
}

/// A complete copy of the store on its way to a client.
///
/// Sendable unchecked: the jobs that use it run one after the other.
final class BackupCopy: @unchecked Sendable {
    let contents: any StoreCopy
    /// The number of the last transaction in it, once it has been verified.
    private var transaction: Int64 = 0
    private var offset = 0
    private var checksum = Checksum()
    private let slot: BackupQuota.Slot

    init(_ contents: any StoreCopy, _ slot: BackupQuota.Slot) {
        self.contents = contents
        self.slot = slot
    }

    /// The length of the backup file.
    var byteCount: Int { contents.byteCount + BackupTrailer.byteCount }

    func verify(budget: ReadBudget) throws(LarderError) {
        transaction = try contents.verify(budget: budget)
    }

    /// The next bytes of the file; none after its end.
    func next(atMost count: Int) throws(LarderError) -> BackupPart {
        var part = BackupPart(byteCount: Int64(byteCount), transaction: transaction)
        if offset < contents.byteCount {
            part.content = try contents.read(min(count, contents.byteCount - offset), at: offset)
            guard !part.content.isEmpty else {
                throw LarderError(.storageFailed, "the copy of the store cannot be read back")
            }
            checksum.append(part.content)
        } else if offset == contents.byteCount {
            part.content = BackupTrailer.bytes(checksum)
        }
        offset += part.content.count
        return part
    }
}
