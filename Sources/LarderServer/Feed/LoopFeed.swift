import LarderModel
import LarderQuery
import LarderWire
import NIOCore
import Synchronization

/// The streams of one event loop that follow the history.
///
/// A stream that has sent all transactions there are is current. After a commit, the event loop
/// reads the new transactions once for all of its current streams. A stream that cannot take them,
/// because its client is slow, stops being current, and reads the history by itself when its client
/// is ready; so it takes no memory and costs the others nothing. If a commit is too large to be
/// read on the event loop, all of them read it on the pool.
///
/// Sendable unchecked: all mutable state is used on `eventLoop` alone; the rest is atomic.
final class LoopFeed: @unchecked Sendable {
    private let eventLoop: any EventLoop
    private let reader: LoopReader
    private let store: StoreDescription
    private let codec = WireCodec()

    private let followerCount = Atomic<Int>(0)
    private let announced = Atomic<Int64>(0)
    private let isScheduled = Atomic(false)

    private var current: [ObjectIdentifier: HistoryStream] = [:]
    /// Every current stream has sent the transactions up to this one.
    private var head: Int64 = 0
    private var round: Round?
    /// When the next delivery may begin.
    private var pauseEnd = NIODeadline.uptimeNanoseconds(0)
    private var isPausing = false

    /// The delivery of a page to the streams that were current when it was read.
    private struct Round {
        let page: HistoryPage
        var streams: ArraySlice<HistoryStream>
        /// The least transaction that the streams which have become current since then have sent.
        var addedHead = Int64.max
        /// The replies to the streams that have sent all transactions before the page, by what
        /// they select; nil if that is nothing.
        var replies: [HistoryPageRead.Kind: Reply?] = [:]
    }

    /// The streams that get a page before others on the event loop run.
    private static let streamsAtOnce = 64
    /// The pause after a delivery, for each stream and each transaction of the delivery after the
    /// first, up to a number of them: about the time in which a reply is sent and its client is
    /// woken. So a commit alone is followed by no pause; but if commits come faster than they can
    /// be delivered, each delivery has many of them.
    private static let pausePerStream = TimeAmount.microseconds(24)
    private static let pausedTransactionsMax = 16
    private static let pauseMax = TimeAmount.milliseconds(20)

    init(eventLoop: any EventLoop, reader: LoopReader, store: StoreDescription) {
        self.eventLoop = eventLoop
        self.reader = reader
        self.store = store
    }

    // MARK: On the writer's thread

    func announce(_ number: Int64) {
        guard followerCount.load(ordering: .sequentiallyConsistent) > 0 else { return }
        announced.store(number, ordering: .sequentiallyConsistent)
        guard !isScheduled.exchange(true, ordering: .sequentiallyConsistent) else { return }
        eventLoop.execute { self.deliver() }
    }

    // MARK: Streams

    /// A stream begins to follow the history. Every commit from now on is announced.
    func open() { followerCount.add(1, ordering: .sequentiallyConsistent) }

    func close(_ stream: HistoryStream) {
        current[ObjectIdentifier(stream)] = nil
        followerCount.subtract(1, ordering: .sequentiallyConsistent)
    }

    /// Makes a stream current.
    ///
    /// - Parameter number: The last transaction that it has sent or not selected.
    /// - Returns: false if there are later ones.
    func add(_ stream: HistoryStream, after number: Int64) -> Bool {
        guard number >= announced.load(ordering: .sequentiallyConsistent) else { return false }
        head = current.isEmpty ? number : min(head, number)
        if let addedHead = round?.addedHead { round?.addedHead = min(addedHead, number) }
        current[ObjectIdentifier(stream)] = stream
        return true
    }

    func remove(_ stream: HistoryStream) { current[ObjectIdentifier(stream)] = nil }

    // MARK: Delivery

    private func deliver() {
        isScheduled.store(false, ordering: .sequentiallyConsistent)
        guard round == nil else { return }
        let number = announced.load(ordering: .sequentiallyConsistent)
        guard !current.isEmpty, number > head else { return }
        guard pauseEnd <= .now() else { return pause() }
        guard let page = reader.history(after: head, upTo: number) else {
            let streams = current.values
            current = [:]
            for stream in streams { stream.fallBehind() }
            return
        }
        let more = min(page.transactions.count - 1, Self.pausedTransactionsMax)
        pauseEnd = .now() + min(Self.pausePerStream * current.count * max(0, more), Self.pauseMax)
        round = Round(page: page, streams: Array(current.values)[...])
        deliverRound()
    }

    private func pause() {
        if isPausing { return }
        isPausing = true
        eventLoop.scheduleTask(deadline: pauseEnd) {
            self.isPausing = false
            self.deliver()
        }
    }

    /// Sends the page to some streams, and then lets the sockets of the event loop in.
    private func deliverRound() {
        guard var round else { return }
        self.round?.streams = []
        for stream in round.streams.prefix(Self.streamsAtOnce)
        where current[ObjectIdentifier(stream)] != nil {
            deliver(&round, to: stream)
        }
        round.streams = round.streams.dropFirst(Self.streamsAtOnce)
        guard round.streams.isEmpty else {
            round.addedHead = self.round?.addedHead ?? .max
            self.round = round
            eventLoop.scheduleTask(in: .microseconds(5)) { self.deliverRound() }
            return
        }
        head = min(round.page.newest, self.round?.addedHead ?? .max)
        self.round = nil
        if announced.load(ordering: .sequentiallyConsistent) > head { deliver() }
    }

    private func deliver(_ round: inout Round, to stream: HistoryStream) {
        let newest = round.page.newest
        guard stream.sentNumber < newest, let kind = stream.kind else { return }
        if stream.readsObjects {
            let isSelected = round.page.transactions.contains {
                $0.id > stream.sentNumber && kind.selected($0) != nil
            }
            return isSelected ? stream.fallBehind() : stream.deliver(nil, upTo: newest)
        }
        guard stream.sentNumber <= head else {
            // It has sent a part of the page by itself.
            let rest = round.page.transactions.drop { $0.id <= stream.sentNumber }
            return stream.deliver(reply(rest, upTo: newest, of: kind), upTo: newest)
        }
        if let known = round.replies[kind] { return stream.deliver(known, upTo: newest) }
        let reply = reply(round.page.transactions[...], upTo: newest, of: kind)
        round.replies[kind] = .some(reply)
        stream.deliver(reply, upTo: newest)
    }

    /// - Returns: nil if nothing is selected.
    private func reply(
        _ transactions: ArraySlice<HistoryTransaction>, upTo newest: Int64,
        of kind: HistoryPageRead.Kind
    ) -> Reply? {
        let selected = transactions.compactMap(kind.selected)
        guard !selected.isEmpty else { return nil }
        let position = HistoryToken(
            store: store.identifier, epoch: store.historyEpoch, number: newest)
        do throws(LarderError) {
            return try codec.encoded(HistoryReply(selected, upTo: position, isCurrent: true))
        } catch {
            return .failed(error)
        }
    }
}
