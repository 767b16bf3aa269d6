import LarderModel
import LarderWire

/// The batches of a spool, in order. They are read while they are stored, so this is also where a
/// stream that nobody waits for any more ends.
final class SpooledRows: RowSource {
    private let spool: SpoolFile
    private let end: Int
    private let deadline: ContinuousClock.Instant
    private let cancellation: ReadCancellation
    private let codec = WireCodec()
    private var place = 0

    init(
        _ spool: SpoolFile, end: Int, deadline: ContinuousClock.Instant,
        cancellation: ReadCancellation
    ) {
        self.spool = spool
        self.end = end
        self.deadline = deadline
        self.cancellation = cancellation
    }

    func next() throws(LarderError) -> Batch? {
        if deadline <= .now { throw InsertStream.expired }
        if cancellation.isCancelled { throw InsertStream.cancelled }
        guard place < end else { return nil }
        let head = try spool.read(Frame.lengthBytes, at: place)
        guard let length = Frame.contentLength(head.span.bytes),
            length <= end - place - Frame.lengthBytes
        else { throw Self.damaged }
        let frame = try spool.read(length, at: place + Frame.lengthBytes)
        place += Frame.lengthBytes + length
        guard let received = try? codec.decodeRequest(frame.span.bytes),
            case .rows(_, let batch?, _) = received.request
        else { throw Self.damaged }
        return batch
    }

    private static let damaged = LarderError(
        .storageFailed, "the rows of a stream cannot be read back as they were written")
}
