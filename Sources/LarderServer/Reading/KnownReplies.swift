import Glibc
import LarderModel
import LarderWire

/// The encoded answers to requests that one event loop answered lately, by the bytes of the
/// requests, each with the mark of the object that it tells of.
///
/// What is asked once costs little: a reply is kept when it is asked for again. Those that were
/// given lately are in one dictionary, older ones in another, which goes when the first is full: so
/// what goes on being asked stays.
struct KnownReplies {
    private struct Entry {
        let request: [UInt8]
        let reply: EncodedBatches
        let mark: ObjectMark

        var byteCount: Int { request.count + reply.byteCount + Self.overheadBytes }

        /// About what two arrays and a place in a dictionary take beside their bytes.
        private static let overheadBytes = 160
    }

    enum Found {
        /// What the store would answer now.
        case reply(EncodedBatches)
        /// None is known, but the same was asked before, lately as a rule: to be kept.
        case asked
        case new
    }

    /// A longer reply takes longer to make than to find.
    private static let replyBytesMax = 4 << 10

    /// Half of what both dictionaries may take.
    private let recentBytesMax: Int
    private var recent: [UInt64: Entry] = [:]
    private var recentBytes = 0
    private var older: [UInt64: Entry] = [:]
    /// Parts of the hashes of requests that were not known, by other parts of them.
    private var asked: [UInt32] = []
    private static let askedCount = 16_384

    init(bytesMax: Int) { recentBytesMax = bytesMax / 2 }

    /// What is known of a request of these bytes.
    mutating func find(
        _ request: UnsafeRawBufferPointer, ifCurrent isCurrent: (ObjectMark) -> Bool
    ) -> Found {
        let hash = Self.hash(request)
        if let reply = reply(to: request, hash, ifCurrent: isCurrent) { return .reply(reply) }
        return isAskedAgain(hash) ? .asked : .new
    }

    private mutating func reply(
        to request: UnsafeRawBufferPointer, _ hash: UInt64,
        ifCurrent isCurrent: (ObjectMark) -> Bool
    ) -> EncodedBatches? {
        if let entry = recent[hash] {
            return Self.equal(entry.request, request) && isCurrent(entry.mark) ? entry.reply : nil
        }
        guard let entry = older[hash], Self.equal(entry.request, request), isCurrent(entry.mark)
        else { return nil }
        insert(entry, hash)
        return entry.reply
    }

    private mutating func isAskedAgain(_ hash: UInt64) -> Bool {
        if asked.isEmpty { asked = Array(repeating: 0, count: Self.askedCount) }
        let place = Int(truncatingIfNeeded: hash) & (Self.askedCount - 1)
        let tag = UInt32(truncatingIfNeeded: hash >> 32)
        defer { asked[place] = tag }
        return asked[place] == tag
    }

    mutating func keep(_ reply: EncodedBatches, to request: [UInt8], _ mark: ObjectMark) {
        guard reply.byteCount <= Self.replyBytesMax else { return }
        let entry = Entry(request: request, reply: reply, mark: mark)
        insert(entry, request.withUnsafeBytes(Self.hash))
    }

    private mutating func insert(_ entry: Entry, _ hash: UInt64) {
        if recentBytes + entry.byteCount > recentBytesMax {
            older = recent
            recent = [:]
            recentBytes = 0
        }
        guard entry.byteCount <= recentBytesMax else { return }
        recentBytes += entry.byteCount
        if let replaced = recent.updateValue(entry, forKey: hash) {
            recentBytes -= replaced.byteCount
        }
    }

    private static func equal(_ bytes: [UInt8], _ others: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count == others.count, let start = others.baseAddress else { return false }
        return memcmp(bytes, start, bytes.count) == 0
    }

    /// Requests of the same hash push each other out, which is all that it has to do with truth.
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UInt64(bytes.count)
        var place = 0
        func mix(_ word: UInt64) {
            hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 32
        }
        while place + 8 <= bytes.count {
            mix(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            place += 8
        }
        var rest: UInt64 = 0
        while place < bytes.count {
            rest = rest << 8 | UInt64(bytes[place])
            place += 1
        }
        mix(rest)
        return hash
    }
}
