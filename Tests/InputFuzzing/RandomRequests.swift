import FoundationEssentials
import LarderModel
import LarderWire
import TestSupport

/// Random requests of every kind to a server with the store of ``StoreSample``. Every number of a
/// request is a usual or an extreme one.
struct RandomRequests {
    var generator: SeededGenerator
    /// The identifier and the epoch of the store.
    var store = UUID()
    var epoch: Int64 = 0

    init(_ generator: SeededGenerator) { self.generator = generator }

    /// A request with an id.
    ///
    /// - Parameter open: The ids of earlier requests on the connection.
    mutating func envelope(_ id: UInt64, open: [UInt64]) throws(LarderError) -> RequestEnvelope {
        var envelope = RequestEnvelope(id: id, request: try request(id, open))
        if chance(8) { envelope.timeoutMilliseconds = word32() }
        if chance(12) { envelope.snapshot = open.randomElement(using: &generator) ?? 0 }
        if chance(10) { envelope.trace = trace() }
        if chance(100) { envelope.id = ExtremeIntegers.random(using: &generator) }
        return envelope
    }

    /// A trace; half of them have characters that the server refuses, or are too long.
    private mutating func trace() -> String {
        let characters = ["a", "0", "-", "~", "é", "\u{0}"]
        let isAllowed = chance(2)
        return String(
            (0..<Int.random(in: 0..<160, using: &generator)).map { _ in
                let index = Int.random(in: 0..<(isAllowed ? 4 : 6), using: &generator)
                return Character(characters[index])
            })
    }

    private mutating func request(_ id: UInt64, _ open: [UInt64]) throws(LarderError) -> Request {
        let other = open.randomElement(using: &generator) ?? id
        // Requests that take long are rarer.
        if chance(20) { return try longRequest() }
        switch Int.random(in: 0..<17, using: &generator) {
        case 0: return .get((0..<3).map { _ in identifier() }, properties: nil)
        case 1, 2: return .query(try query())
        case 3: return chance(2) ? .explain(try query()) : .analyze(try query())
        case 4, 5: return .save(try changes())
        case 6: return chance(2) ? .saveInParts : .insertRows(insertion())
        case 7:
            return chance(2)
                ? .savePart(requestID: other, try part(), isLast: chance(2))
                : .rows(requestID: other, try rows(), isLast: chance(2))
        case 8, 9: return .history(try history())
        case 10:
            return .observe(
                ObserveRequest(
                    try query(), intervalMilliseconds: chance(2) ? 0 : word32(),
                    isSectioned: chance(6)))
        case 11: return .openSnapshot
        case 12: return .credit(requestID: other, batches: word32())
        case 13, 14: return .cancel(requestID: other)
        case 15:
            return chance(2)
                ? .metrics
                : chance(2)
                    ? .queryStatistics(reset: chance(2))
                    : .endRequests(connection: 1, request: other)
        default: return chance(2) ? .ping : chance(2) ? .statistics : .activity
        }
    }

    private mutating func longRequest() throws(LarderError) -> Request {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0, 1: return .backup(credit: chance(2) ? 0 : word32())
        case 2: return .migrate(.migrate(to: StoreSample.schemas[chance(2) ? 1 : 0]))
        case 3, 4: return .migrate(.plan(to: StoreSample.schemas[chance(2) ? 1 : 0]))
        case 5: return .migrate(chance(4) ? .begin : .commit)
        case 6: return .check
        case 7: return .schema
        case 8: return .hello(Hello(clientName: "again"))
        default:
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: return .deleteHistory(.upTo(token()))
            case 1: return .deleteHistory(.before(date()))
            default: return .deleteHistory(.keeping(max(0, number())))
            }
        }
    }

    /// A part of a change set, which may end within a change.
    private mutating func part() throws(LarderError) -> [UInt8] {
        var set = try changes()
        set.conditions = []
        set.changes = set.changes.filter(\.mayBeSavedInParts)
        var parts = ChangeSetParts(set)
        let content = try parts.next()?.content ?? []
        let cut = chance(4) ? Int.random(in: 0...9, using: &generator) : 0
        return content.dropLast(cut)
    }

    // MARK: Numbers

    private mutating func chance(_ count: Int) -> Bool {
        Int.random(in: 0..<count, using: &generator) == 0
    }

    private mutating func number() -> Int64 {
        chance(2) ? .random(in: 0...14, using: &generator) : ExtremeIntegers.near(using: &generator)
    }

    private mutating func word32() -> UInt32 {
        chance(3)
            ? .random(in: 0...3, using: &generator)
            : UInt32(truncatingIfNeeded: ExtremeIntegers.random(using: &generator))
    }

    private mutating func limit() -> Int64? { chance(4) ? nil : number() }

    private mutating func date() -> Date {
        Date(timeIntervalSinceReferenceDate: chance(2) ? Double(number()) : 1e300)
    }

    private mutating func token() -> HistoryToken {
        HistoryToken(
            store: chance(20) ? UUID() : store, epoch: chance(6) ? number() : epoch,
            number: max(0, number()))
    }

    private mutating func identifier() -> PersistentIdentifier {
        let name = ["Item", "Tool", "Tag"].randomElement(using: &generator) ?? "Item"
        return PersistentIdentifier(store: store, entityName: name, key: max(1, number()))
    }

    // MARK: Reads

    private static let predicates = [
        "large > %@", "large + %@ > large", "large * %@ != %@", "large - %@ < 2",
        "large / %@ >= 0", "tagCount == %@", "parts.@count < %@", "SELF IN {%@}",
        "SUBQUERY(parts, $p, $p.large + %@ > 0).@count >= %@", "abs(large) > %@",
        "ANY parts.large == %@", "modulus:by:(large, %@) == 0",
    ]

    private mutating func selection() -> (predicate: QueryTerm?, arguments: [QueryArgument]) {
        guard !chance(3), let text = Self.predicates.randomElement(using: &generator) else {
            return (nil, [])
        }
        let count = text.split(separator: "%@", omittingEmptySubsequences: false).count - 1
        return (.format(text), (0..<count).map { _ in .value(.int(number())) })
    }

    private mutating func query() throws(LarderError) -> QueryRequest {
        let (predicate, arguments) = selection()
        let sort = chance(2) ? [SortKey("large", descending: chance(2))] : []
        let columns = [QueryColumn("large"), QueryColumn("large * 3", name: "product")]
        let query: Query
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: query = .count(entityName: "Item", predicate: predicate, includesSubentities: true)
        case 1:
            query = .aggregate(
                Aggregate(
                    "Item", where: predicate, groupBy: chance(2) ? [QueryColumn("flag")] : [],
                    [.init(.count), .init(.sum, "large"), .init(.average, "large")]))
        case 2:
            query = .fetch(
                Fetch("Item", where: predicate, sort: sort, selection: .values(columns)))
        case 3:
            query = .fetch(
                Fetch("Item", where: predicate, sort: sort, selection: .columns(columns)))
        default: query = .fetch(Fetch("Item", where: predicate, sort: sort))
        }
        let parameters = QueryParameters(
            arguments: arguments, limit: limit(), offset: chance(3) ? number() : nil,
            after: chance(12) ? [.int(number()), .object(identifier())] : [])
        return try QueryRequest(query, parameters, credit: chance(2) ? 0 : word32())
    }

    private mutating func history() throws(LarderError) -> HistoryRequest {
        let follows = chance(4)
        let fetch = HistoryFetch(
            after: chance(2) ? token() : nil, upTo: chance(3) && !follows ? token() : nil,
            where: chance(6) ? HistoryFilter(since: date(), until: date()) : HistoryFilter(),
            newestFirst: !follows && chance(2), includesChanges: chance(6) ? false : true,
            limit: follows ? nil : limit().map { Int($0) })
        let hasObjects = fetch.includesChanges && chance(4)
        return HistoryRequest(
            fetch, objects: hasObjects ? [try query()] : [], startsNow: chance(4),
            credit: chance(2) ? 0 : word32(), follows: follows)
    }

    // MARK: Writes

    private mutating func name() -> Value {
        .string("random \(UInt64.random(in: 0...99_999, using: &generator))")
    }

    private mutating func change() -> Change {
        let objects = (0..<2).map { _ in identifier() }
        let (predicate, arguments) = selection()
        let selected = ObjectSelection(
            "Item", where: predicate, sort: [SortKey("large")], limit: limit(),
            arguments: arguments + [.value(.int(number()))], wantsIdentifiers: chance(2))
        switch Int.random(in: 0..<6, using: &generator) {
        case 0, 1:
            return .insert(
                PersistentIdentifier(temporary: "i", entityName: "Item"),
                values: ["title": name(), "large": .int(number())])
        case 2:
            return .update(
                identifier(), ifVersion: chance(2) ? number() : nil,
                values: ["large": .int(number())])
        case 3:
            let position = RelationshipPosition.index(number())
            return .update(
                identifier(), ifVersion: nil, values: [:],
                edits: [
                    chance(2)
                        ? .add(objects, to: "parts", at: position)
                        : .move(objects, in: "parts", to: position)
                ])
        case 4:
            return .updateAll(
                selected, set: [PropertyAssignment("large", .format("large + %@"))])
        default:
            return chance(4) ? .deleteAll(selected) : .delete(identifier(), ifVersion: limit())
        }
    }

    private mutating func changes() throws(LarderError) -> ChangeSet {
        let conditions =
            chance(4)
            ? [ChangeSet.Condition(ObjectSelection("Item", limit: limit()), count: number())] : []
        return ChangeSet(
            [change()], conditions: conditions,
            mergePolicy: MergePolicy.allCases.randomElement(using: &generator) ?? .error)
    }

    private mutating func insertion() -> Insertion {
        Insertion("Item", isAtomic: chance(2), wantsIdentifiers: chance(2))
    }

    private mutating func rows() throws(LarderError) -> Batch? {
        if chance(6) { return nil }
        var titles = Column(name: "title", kind: .attribute(.string))
        var numbers = Column(name: "large", kind: .attribute(.int64))
        let count = Int.random(in: 0...3, using: &generator)
        for _ in 0..<count {
            try titles.append(name())
            try numbers.append(.int(number()))
        }
        return Batch(rowCount: count, columns: [titles, numbers])
    }
}
