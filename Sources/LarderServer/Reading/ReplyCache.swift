import Glibc
import LarderModel
import LarderQuery
import LarderWire

/// The encoded replies to repeated reads of one object, by the bytes of the request.
///
/// The request path looks a `get` up before it is decoded (`ConnectionHandler.replyOrDecode`). The
/// writer invalidates a reply by replacing the stamp of its object (``ObjectStamp``). See
/// `docs/decisions/0022-reply-cache.md`.
///
/// A reply is stored when its request is repeated, so that a request that is sent once costs
/// little. There are two generations: when the recent one is full, it replaces the older one. A hit
/// in the older generation moves the reply to the recent one, so replies in use stay.
///
/// It belongs to one event loop.
final class ReplyCache {
    /// A request, by its bytes.
    struct Key {
        fileprivate let bytes: [UInt8]
        fileprivate let hash: UInt64
    }

    enum Lookup {
        /// The reply that the store would return now.
        case reply(EncodedBatches, QueryCounters.RecordNumber?)
        /// The cache has no current reply, but the request is a repeated one: the reply is to be
        /// inserted for this key.
        case repeated(Key)
        case new
    }

    private struct Entry {
        let request: [UInt8]
        let reply: EncodedBatches
        let stamp: ObjectStamp
        /// nil if such reads are not counted.
        let record: QueryCounters.RecordNumber?

        var byteCount: Int { request.count + reply.byteCount + Self.overheadBytes }

        /// About the size of two array headers and a dictionary slot.
        private static let overheadBytes = 160
    }

    /// A longer reply takes longer to read than to find.
    private static let replyBytesMax = 4 << 10

    private let generationBytesMax: Int
    private var recent: [UInt64: Entry] = [:]
    private var recentBytes = 0
    private var older: [UInt64: Entry] = [:]
    private var olderBytes = 0
    /// The upper halves of the hashes of recent requests without a stored reply, in slots given by
    /// the lower bits.
    private var seen: [UInt32] = []
    private static let seenCount = 16_384

    /// - Parameter bytesMax: The memory of both generations; 0 stores nothing.
    init(bytesMax: Int) { generationBytesMax = bytesMax / 2 }

    /// The memory of the replies.
    var byteCount: Int { recentBytes + olderBytes }

    /// - Parameters:
    ///   - request: The body of the request. Equal bytes are the same request.
    ///   - isCurrent: Whether a stamp is current, and the record of the counts.
    func find(
        _ request: RawSpan, ifCurrent isCurrent: (ObjectStamp, QueryCounters.RecordNumber?) -> Bool
    ) -> Lookup {
        let hash = Self.hash(request)
        if let entry = storedReply(to: request, hash, ifCurrent: isCurrent) {
            return .reply(entry.reply, entry.record)
        }
        guard isRepeated(hash) else { return .new }
        return .repeated(Key(bytes: request.withUnsafeBytes { Array($0) }, hash: hash))
    }

    /// - Parameters:
    ///   - stamp: The stamp of the object, taken before it was read.
    ///   - record: Counts such reads.
    func insert(
        _ reply: EncodedBatches, for key: Key, _ stamp: ObjectStamp,
        countedIn record: QueryCounters.RecordNumber?
    ) {
        guard reply.byteCount <= Self.replyBytesMax else { return }
        insert(
            Entry(request: key.bytes, reply: reply, stamp: stamp, record: record), key.hash)
    }

    func removeAll() {
        recent = [:]
        recentBytes = 0
        older = [:]
        olderBytes = 0
        seen = []
    }

    private func storedReply(
        to request: RawSpan, _ hash: UInt64,
        ifCurrent isCurrent: (ObjectStamp, QueryCounters.RecordNumber?) -> Bool
    ) -> Entry? {
        if let entry = recent[hash] {
            let isValid =
                Self.equal(entry.request, request) && isCurrent(entry.stamp, entry.record)
            return isValid ? entry : nil
        }
        guard let entry = older[hash], Self.equal(entry.request, request),
            isCurrent(entry.stamp, entry.record)
        else { return nil }
        insert(entry, hash)
        return entry
    }

    private func isRepeated(_ hash: UInt64) -> Bool {
        if seen.isEmpty { seen = Array(repeating: 0, count: Self.seenCount) }
        let slot = Int(truncatingIfNeeded: hash) & (Self.seenCount - 1)
        let tag = UInt32(truncatingIfNeeded: hash >> 32)
        defer { seen[slot] = tag }
        return seen[slot] == tag
    }

    private func insert(_ entry: Entry, _ hash: UInt64) {
        if recentBytes + entry.byteCount > generationBytesMax {
            (older, olderBytes) = (recent, recentBytes)
            (recent, recentBytes) = ([:], 0)
        }
        guard entry.byteCount <= generationBytesMax else { return }
        recentBytes += entry.byteCount
        if let replaced = recent.updateValue(entry, forKey: hash) {
            recentBytes -= replaced.byteCount
        }
    }

    private static func equal(_ bytes: [UInt8], _ others: RawSpan) -> Bool {
        guard bytes.count == others.byteCount else { return false }
        return others.withUnsafeBytes { others in
            others.baseAddress.map { memcmp(bytes, $0, bytes.count) == 0 } ?? true
        }
    }

    /// Requests with the same hash replace each other; correctness does not depend on the hash.
    private static func hash(_ bytes: RawSpan) -> UInt64 {
        var hash = UInt64(bytes.byteCount)
        var offset = 0
        func mix(_ word: UInt64) {
            hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 32
        }
        while offset + 8 <= bytes.byteCount {
            mix(bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.byteCount {
            rest = rest << 8 | UInt64(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
            offset += 1
        }
        mix(rest)
        return hash
    }
}
