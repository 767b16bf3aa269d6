import LarderModel
import LarderQuery
import LarderSQL
import Synchronization

/// A read of a whole table that several connections share, on one snapshot. Each reads the rows of
/// one range of keys after the other, until all ranges have been read.
final class ParallelRead: Sendable {
    /// The result of one connection.
    private enum Part: Sendable {
        case groups(GroupTable)
        case keys([Int64])
    }

    private struct State {
        /// The first key that nobody has taken; nil if all have been.
        var nextKey: Int64?
        var parts: [Part] = []
        var keyCount = 0
        var work = ReadWork()
        /// Why the read ends.
        var failure: ReadFailure?
    }

    /// The number of ranges of which each returns the first objects of an order.
    private static let sortedRangesMax: Int64 = 16
    /// The keys that are collected. If there are more objects, one connection reads them.
    private static let keysMax = 1 << 16
    private static let firstKeysMax: Int64 = 1 << 12

    private static let tooManyKeys = LarderError(
        .resourceExhausted, "there are more objects than are collected")

    private let statement: SQL
    private let division: SQLTemplate.Division
    private let lastKey: Int64
    private let rangeKeys: Int64
    private let snapshot: Int64
    private let state: Mutex<State>

    /// Reads a query together with other connections, if that is worthwhile, and leaves the
    /// snapshot open.
    ///
    /// - Parameter statements: Those with which the connection would read the query alone.
    /// - Returns: the statement that returns the rows; nil if the query is to be read alone, and
    ///   then no snapshot has been taken.
    static func run(
        _ session: ReadSession, _ plan: ReadPlan, _ parameters: QueryParameters,
        _ statements: [SQL], _ workers: any ReadWorkers
    ) throws(ReadFailure) -> SQL? {
        guard statements.count == 1, !session.isPinned, !session.description.isReadOnly,
            firstCount(parameters) <= firstKeysMax, let table = plan.query.sources.first?.table,
            try session.keys(of: table) != nil
        else { return nil }
        let divided = try session.divided(plan, parameters)
        guard divided.statements.count == 2 else { return nil }
        try session.beginSnapshot()
        do throws(ReadFailure) {
            let last = try read(session, table, divided, statements[0], workers)
            if last == nil { session.endSnapshot() }
            return last
        } catch {
            session.endSnapshot()
            switch error {
            case .failed(GroupFunctions.tooManyGroups):
                plan.sortGroups()
                return nil
            case .failed(tooManyKeys): return nil
            default: throw error
            }
        }
    }

    /// The number of the first objects in an order that a query asks for.
    private static func firstCount(_ parameters: QueryParameters) -> Int64 {
        (parameters.limit ?? 0).addingClamped(parameters.offset ?? 0)
    }

    private static func read(
        _ session: ReadSession, _ table: String,
        _ divided: (statements: [SQL], division: SQLTemplate.Division), _ whole: SQL,
        _ workers: any ReadWorkers
    ) throws(ReadFailure) -> SQL? {
        guard let keys = try session.keys(of: table), try session.scans(whole) else { return nil }
        let read = ParallelRead(session, divided, keys, try session.stateNumber())
        guard workers.start({ read.work(on: $0, budget: $1) }) > 0 else { return nil }
        read.work(on: session)
        workers.wait()
        return try read.end(divided.statements[1], session)
    }

    private init(
        _ session: ReadSession, _ divided: (statements: [SQL], division: SQLTemplate.Division),
        _ keys: ClosedRange<Int64>, _ snapshot: Int64
    ) {
        (statement, division) = (divided.statements[0], divided.division)
        lastKey = keys.upperBound
        rangeKeys =
            division == .firstKeys
            ? (lastKey - keys.lowerBound) / Self.sortedRangesMax + 1
            : session.parallelKeysMin / 4 + 1
        self.snapshot = snapshot
        state = Mutex(State(nextKey: keys.lowerBound))
    }

    // MARK: On the thread of each connection

    private func work(on reader: any StoreReader, budget: ReadBudget) {
        guard let session = (reader as? Reader)?.session else {
            preconditionFailure("a reader of another store")
        }
        session.connection.setBudget(budget)
        defer { session.connection.setBudget(nil) }
        let earlier = session.work
        do throws(ReadFailure) {
            try session.beginSnapshot()
            defer { session.endSnapshot() }
            // If the store was changed in between, this connection would see another state.
            guard try session.stateNumber() == snapshot else { return }
            session.connection.setBudget(budget)
            work(on: session)
        } catch {
            fail(error)
        }
        let work = session.work.since(earlier)
        state.withLock { $0.work.add(work) }
    }

    private func work(on session: ReadSession) {
        do throws(ReadFailure) {
            let part: Part =
                switch division {
                case .groups: try readGroups(session)
                case .keys, .firstKeys: .keys(try readKeys(session))
                case .none: preconditionFailure("such a query is not divided")
                }
            state.withLock { $0.parts.append(part) }
        } catch {
            fail(error)
        }
    }

    private func fail(_ failure: ReadFailure) {
        state.withLock { state in
            state.failure = state.failure ?? failure
            state.nextKey = nil
        }
    }

    private func takeRange() -> ClosedRange<Int64>? {
        state.withLock { state in
            guard let first = state.nextKey else { return nil }
            let last = min(lastKey, first.addingClamped(rangeKeys - 1))
            state.nextKey = last < lastKey ? last + 1 : nil
            return first...last
        }
    }

    private func values(_ range: ClosedRange<Int64>) -> [SQLValue] {
        statement.parameters.map { parameter in
            switch parameter {
            case .constant(let value): value
            case .firstKey: .integer(range.lowerBound)
            case .lastKey: .integer(range.upperBound)
            default: preconditionFailure("the other parameters are computed")
            }
        }
    }

    private func readGroups(_ session: ReadSession) throws(ReadFailure) -> Part {
        session.groups.continues = true
        defer {
            session.groups.continues = false
            session.groups.removeAll()
        }
        let statement = try session.statement(statement)
        defer { session.end(statement) }
        while let range = takeRange() {
            statement.reset()
            try session.bind(values(range), to: statement)
            _ = try session.step(statement)
        }
        return session.groups.table.map { .groups($0) } ?? .keys([])
    }

    private func readKeys(_ session: ReadSession) throws(ReadFailure) -> [Int64] {
        let statement = try session.statement(statement)
        defer { session.end(statement) }
        var keys: [Int64] = []
        while let range = takeRange() {
            statement.reset()
            try session.bind(values(range), to: statement)
            let countBefore = keys.count
            while try session.step(statement) {
                keys.append(statement.int64(at: 0))
                if keys.count > Self.keysMax { throw .failed(Self.tooManyKeys) }
            }
            let added = keys.count - countBefore
            let count = state.withLock { state in
                state.keyCount += added
                return state.keyCount
            }
            if count > Self.keysMax { throw .failed(Self.tooManyKeys) }
        }
        return keys
    }

    // MARK: The result

    /// The statement that returns the rows.
    private func end(_ last: SQL, _ session: ReadSession) throws(ReadFailure) -> SQL {
        let (parts, work, failure) = state.withLock { ($0.parts, $0.work, $0.failure) }
        session.add(work)
        if let failure { throw failure }
        guard case .groups(let form) = division else {
            var keys: [Int64] = []
            for case .keys(let part) in parts { keys += part }
            return last.with(key: .keys(keys.sorted()))
        }
        let table = GroupTable(session.groups, session.problems, form)
        for case .groups(let part) in parts {
            guard table.add(part, hasOneGroup: form.hasOneGroup) else {
                throw .failed(GroupFunctions.tooManyGroups)
            }
        }
        session.groups.table = table
        return last.with(key: .integer(Int64(table.count)))
    }
}

extension SQL {
    /// The statement with a value for the parameter ``SQLParameter/key``; the others are known.
    fileprivate func with(key: SQLValue) -> SQL {
        with(parameters.map { $0 == .key ? .constant(key) : $0 })
    }
}

extension ReadSession {
    fileprivate func divided(
        _ plan: ReadPlan, _ parameters: QueryParameters
    ) throws(ReadFailure) -> (statements: [SQL], division: SQLTemplate.Division) {
        do throws(LarderError) { return try plan.divided(parameters, conversions) } catch {
            throw stopFailure ?? .failed(error)
        }
    }

    /// The keys of a table; nil if they are too few to be divided.
    fileprivate func keys(of table: String) throws(ReadFailure) -> ClosedRange<Int64>? {
        let key: SQL = "\(name: Layout.keyColumn)"
        let first = try integer("SELECT min(\(key)) FROM \(name: table)")
        let last = try integer("SELECT max(\(key)) FROM \(name: table)")
        // A damaged file may have any keys.
        guard first >= 0, last >= first, last - first >= parallelKeysMin else { return nil }
        return first...last
    }

    /// A number that is higher after each change of the store.
    fileprivate func stateNumber() throws(ReadFailure) -> Int64 {
        max(try integer(Layout.lastTransaction), try integer(Catalog.readDeletedHistory))
    }

    /// Whether a statement reads all rows of the first table of its query, without an index.
    fileprivate func scans(_ sql: SQL) throws(ReadFailure) -> Bool {
        try steps(of: sql).contains { $0.scanned == "t0" && !$0.usesIndex }
    }
}
