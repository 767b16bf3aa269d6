import FoundationEssentials
import LarderModel
import LarderWire

// The messages of snapshots and of observed queries.
extension Samples {
    static let getInASnapshot = RequestEnvelope(
        id: 300, snapshot: 299, request: .get([ann], properties: ["name"]))

    static func liveRequests() throws -> [(name: String, request: Request)] {
        [
            ("openSnapshot", .openSnapshot),
            (
                "observe",
                .observe(
                    ObserveRequest(try request(queries[0].query), intervalMilliseconds: 1_500))
            ),
            (
                "historyOfObjects",
                .history(
                    HistoryRequest(
                        HistoryFetch(after: token),
                        objects: [
                            try request(queries[0].query),
                            try QueryRequest(.fetch(Fetch("Course", selection: .identifiers))),
                        ], follows: true))
            ),
            (
                "observeEachCommit",
                .observe(
                    ObserveRequest(
                        try QueryRequest(.count(entityName: "Student", predicate: nil))))
            ),
            (
                "observeSections",
                .observe(ObserveRequest(try request(queries[0].query), isSectioned: true))
            ),
        ]
    }

    static let liveReplies: [(name: String, reply: Reply)] = [
        (
            "transactionsWithObjects",
            .history(
                HistoryReply(
                    [
                        HistoryTransaction(
                            token: token, timestamp: Date(timeIntervalSinceReferenceDate: 1),
                            runs: [HistoryRun(.inserted, "Student", 1...10_000)])
                    ], upTo: token, objects: [batch, mixedBatch]), more: true)
        ),
        ("snapshotOpened", .snapshotOpened(token)),
        ("snapshotOpenedAtTheBeginning", .snapshotOpened(beginning)),
        (
            "observed",
            .observed(ObserveReply(batch, at: token, begins: true, ends: true), more: true)
        ),
        ("observedBegins", .observed(ObserveReply(batch, at: token, begins: true), more: true)),
        ("observedContinues", .observed(ObserveReply(mixedBatch, at: token), more: true)),
        ("observedEnds", .observed(ObserveReply(nil, at: token, ends: true), more: true)),
        // The first row is inserted, the second one updated, the third one moved.
        (
            "observedChange",
            .observed(
                ObserveReply(
                    batch, at: token, newIndexes: [0, 300, .max - 1], oldIndexes: [0, 300, .max],
                    moved: [false, false, true], deleted: [2, 70_000, .max]), more: true)
        ),
        (
            "observedDeletion",
            .observed(ObserveReply(nil, at: beginning, deleted: [0]), more: true)
        ),
        (
            "observedSections",
            .observed(
                ObserveReply(
                    batch, sections: sections, at: token, begins: true, ends: true), more: true)
        ),
        (
            "observedChangeWithSections",
            .observed(
                ObserveReply(
                    batch, sections: sections, at: token, newIndexes: [0, 3, 4],
                    oldIndexes: [0, 5, 3], moved: [false, true, false]), more: true)
        ),
        ("observedLast", .observed(ObserveReply(nil, at: token), more: false)),
    ]

    /// The sections of the rows of ``batch``, of which one is nil.
    private static let sections = Batch(
        rowCount: 3,
        columns: [
            Column(
                name: "section", kind: .attribute(.string),
                storage: .bytes(heap: Array("News".utf8), ends: [0, 4, 4]), nulls: [1])
        ])
}
