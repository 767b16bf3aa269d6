/// The evaluations of one user's observed queries: those that run, and those that wait for them in
/// the order in which they were requested.
///
/// It has no lock; its owner protects it.
struct EvaluationQueue {
    /// The evaluations that run at a time.
    let runningMax: Int
    private(set) var runningCount = 0
    /// The waiting queries by their tickets, and the ticket of each.
    private var waiting: [Int: LiveQuery] = [:]
    private var tickets: [ObjectIdentifier: Int] = [:]
    /// The lowest ticket that may wait, and the next one.
    private var first = 0
    private var next = 0

    init(runningMax: Int) { self.runningMax = runningMax }

    var waitingCount: Int { waiting.count }
    var isEmpty: Bool { runningCount == 0 }

    /// - Returns: whether the evaluation begins now. If not, ``ended()`` returns it later.
    mutating func begin(_ query: LiveQuery) -> Bool {
        guard runningCount >= runningMax else {
            runningCount += 1
            return true
        }
        waiting[next] = query
        tickets[ObjectIdentifier(query)] = next
        next += 1
        return false
    }

    /// An evaluation has ended.
    ///
    /// - Returns: the query whose evaluation begins instead.
    mutating func ended() -> LiveQuery? {
        while first < next {
            first += 1
            guard let query = waiting.removeValue(forKey: first - 1) else { continue }
            tickets[ObjectIdentifier(query)] = nil
            return query
        }
        runningCount -= 1
        return nil
    }

    /// The query is no longer observed.
    mutating func remove(_ query: LiveQuery) {
        guard let ticket = tickets.removeValue(forKey: ObjectIdentifier(query)) else { return }
        waiting[ticket] = nil
    }
}
