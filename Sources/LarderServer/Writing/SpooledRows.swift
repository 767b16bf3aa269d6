import LarderModel
import LarderQuery
import LarderWire
import NIOCore

/// The batches of a spool file, in order. They are read while the writer stores them, so this also
/// ends a stream that is cancelled or out of time.
final class SpooledRows: RowSource {
    private let spool: SpoolFile
    private let end: Int
    private let deadline: NIODeadline
    private let cancellation: ReadCancellation
    private let codec = WireCodec()
    private var offset = 0

    init(
        _ spool: SpoolFile, end: Int, deadline: NIODeadline, cancellation: ReadCancellation
    ) {
        self.spool = spool
        self.end = end
        self.deadline = deadline
        self.cancellation = cancellation
    }

    func next() throws(LarderError) -> Batch? {
        if deadline <= .now() { throw WriteStream.expired }
        if cancellation.isCancelled { throw WriteStream.cancelled }
        guard offset < end else { return nil }
        let head = try spool.read(Frame.lengthBytes, at: offset)
        guard let length = Frame.contentLength(head.span.bytes),
            length <= end - offset - Frame.lengthBytes
        else { throw Self.damaged }
        let frame = try spool.read(length, at: offset + Frame.lengthBytes)
        offset += Frame.lengthBytes + length
        guard let received = try? codec.decodeRequest(frame.span.bytes),
            case .rows(_, let batch?, _) = received.request
        else { throw Self.damaged }
        return batch
    }

    private static let damaged = LarderError(
        .storageFailed, "the rows of a stream cannot be read back as they were written")
}

/// The change set in a spool file, some of its changes at a time. It ends as ``SpooledRows`` does.
final class SpooledChanges: ChangeSetReader {
    private let spool: SpoolFile
    private let end: Int
    private let changeBytesMax: Int
    private let deadline: NIODeadline
    private let cancellation: ReadCancellation
    private var decoder: ChangeSetDecoder

    init(
        _ spool: SpoolFile, end: Int, changeBytesMax: Int, deadline: NIODeadline,
        cancellation: ReadCancellation
    ) {
        self.spool = spool
        self.end = end
        self.changeBytesMax = changeBytesMax
        self.deadline = deadline
        self.cancellation = cancellation
        decoder = ChangeSetDecoder(byteCount: end, changeBytesMax: changeBytesMax)
    }

    var digest: UInt64 { decoder.digest }

    func rewind() {
        decoder = ChangeSetDecoder(byteCount: end, changeBytesMax: changeBytesMax)
    }

    func next() throws(LarderError) -> ChangeSet? {
        if deadline <= .now() { throw WriteStream.expired }
        if cancellation.isCancelled { throw WriteStream.cancelled }
        return try decoder.next { (count, offset) throws(LarderError) in
            try spool.read(count, at: offset)
        }
    }
}
