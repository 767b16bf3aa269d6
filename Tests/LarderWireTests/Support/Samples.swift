import FoundationEssentials
import LarderModel
import LarderWire

/// One of each message, with every kind of content: what the round trips, the corpus and the
/// fuzzers start from.
enum Samples {
    static let store = UUID(uuidString: "1B4E28BA-2FA1-41D2-883F-0016D3CCA427") ?? UUID()
    static let ann = PersistentIdentifier(store: store, entityName: "Student", key: 1)
    static let bob = PersistentIdentifier(store: store, entityName: "Student", key: .max)
    static let new = PersistentIdentifier(temporary: "t:a", entityName: "Course")

    static let values: [(name: String, value: Value)] = [
        ("null", .null),
        ("bool", .bool(true)),
        ("int", .int(-2)),
        ("intMin", .int(.min)),
        ("float", .float(1.5)),
        ("double", .double(-0.1)),
        ("infinity", .double(.infinity)),
        ("decimal", .decimal(Decimal(string: "-12.50") ?? 0)),
        ("string", .string("Ann \u{0}é 😀")),
        ("emptyString", .string("")),
        ("date", .date(Date(timeIntervalSinceReferenceDate: 0.25))),
        ("uuid", .uuid(store)),
        ("url", .url(URL(string: "https://example.org/a?b=c") ?? URL(filePath: "/"))),
        ("data", .data(Data([0, 255, 7]))),
        ("emptyData", .data(Data())),
        ("json", .json(#"{"a":[1,null]}"#)),
        ("object", .object(ann)),
        ("temporary", .object(new)),
        ("objects", .objects([ann, bob, new])),
        ("noObjects", .objects([])),
    ]

    static let tree = QueryExpression.and([
        .comparison(
            Comparison(
                .keyPath("name"), .contains, .argument(0),
                options: [.caseInsensitive, .diacriticInsensitive])),
        .not(.comparison(Comparison(.keyPath("birthOfYear"), .in, .list([.argument(1)])))),
        .or([
            .comparison(
                Comparison(
                    .collection(
                        .count,
                        .subquery(
                            .keyPath("courses"), variable: "c",
                            predicate: .comparison(
                                Comparison(
                                    .keyPath(.variable("c"), ["title"]), .equal, .argument(2))))),
                    .greaterThan, .argument(3))),
            .comparison(
                Comparison(.keyPath("courses.title"), .like, .argument(4), modifier: .any)),
            .comparison(Comparison(.object, .notEqual, .argument(5))),
        ]),
    ])

    /// Each function, what is computed over many, and what a subquery's objects have.
    static let functions = QueryExpression.and(
        ScalarFunction.allCases.map { function in
            let count = function.operandCount.lowerBound
            let operands = [QueryExpression](repeating: .keyPath("birthOfYear"), count: count)
            return .comparison(
                Comparison(.function(function, operands), .notEqual, .variable("limit")))
        }
            + AggregateFunction.allCases.map { function in
                .comparison(
                    Comparison(
                        .collection(function, .keyPath("courses.title")), .notEqual, .argument(0)))
            } + [
                .comparison(
                    Comparison(
                        .keyPath(
                            .subquery(
                                .subquery(
                                    .keyPath("courses"), variable: "a", predicate: .argument(1)),
                                variable: "b", predicate: .argument(1)), ["title"]),
                        .equal, .argument(8), options: .normalized, modifier: .any)),
                .comparison(Comparison(.keyPath("name"), .in, .variable("names"))),
            ])

    static let queries: [(name: String, query: Query)] = [
        (
            "fetch",
            .fetch(
                Fetch(
                    "Student", where: .format("name BEGINSWITH[cd] %@"),
                    sort: [SortKey("name"), SortKey("birthOfYear", descending: true)]))
        ),
        ("identifiers", .fetch(Fetch("Student", selection: .identifiers))),
        (
            "keyPaths",
            .fetch(
                Fetch(
                    "Student", where: .tree(tree), selection: .columns(["name", "courses"]),
                    isDistinct: true))
        ),
        ("functions", .count(entityName: "Student", predicate: .tree(functions))),
        (
            "sorted",
            .fetch(
                Fetch(
                    "Student",
                    sort: [
                        SortKey("name", nilPlacement: .last, stringOrder: .localizedStandard),
                        SortKey(.tree(.keyPath("birthOfYear")), nilPlacement: .first),
                        SortKey("length(name)", descending: true),
                        SortKey("city", stringOrder: .caseInsensitive),
                    ], prefetch: ["courses", "courses.teacher"]))
        ),
        ("count", .count(entityName: "Student", predicate: .tree(tree))),
        ("countAll", .count(entityName: "Student", predicate: nil)),
        (
            "ofOneEntity",
            .count(
                entityName: "Student",
                predicate: .tree(.not(.typeTest(.keyPath("mentor"), entityName: "Tutor"))),
                includesSubentities: false)
        ),
        ("fetchOfOneEntity", .fetch(Fetch("Student", includesSubentities: false))),
        (
            "aggregateOfOneEntity",
            .aggregate(Aggregate("Student", [.count], includesSubentities: false))
        ),
        (
            "aggregate",
            .aggregate(
                Aggregate(
                    "Student", where: .format("name != nil"), groupBy: ["birthOfYear"],
                    [.count] + AggregateFunction.allCases.map { .init($0, "birthOfYear") },
                    having: .tree(
                        .comparison(Comparison(.keyPath("count"), .greaterThan, .argument(0)))),
                    sort: [SortKey("count", descending: true)]))
        ),
        (
            "filtered",
            .aggregate(
                Aggregate(
                    "Student",
                    groupBy: [
                        "city", QueryColumn(.tree(.keyPath("birthOfYear")), name: "year"),
                    ],
                    [
                        .init(.count, where: "birthOfYear > 2000", name: "young"),
                        .init(
                            .mode, .tree(.keyPath("name")),
                            where: .tree(
                                .comparison(Comparison(.keyPath("name"), .notEqual, .argument(0)))),
                            name: "name"),
                    ]))
        ),
    ]

    static let parameters = QueryParameters(
        arguments: values.map { .value($0.value) } + [
            .list(["Ann", nil, .object(ann)]), .list([]),
        ],
        variables: ["names": ["Ann", "Bob"], "limit": 3], argumentsAreText: false,
        assumesUTC: true, limit: 10, offset: 0)

    static func request(_ query: Query) throws -> QueryRequest {
        QueryRequest(
            shape: try QueryRequest(query).shape, parameters: parameters,
            credit: 4)
    }

    static let changes = ChangeSet([
        .insert(new, values: Dictionary(uniqueKeysWithValues: values.map { ($0.name, $0.value) })),
        .insert(PersistentIdentifier(temporary: "t:b", entityName: "Course"), values: [:]),
        .update(ann, ifVersion: 3, values: ["name": "Ann"]),
        .update(bob, ifVersion: nil, values: ["name": nil]),
        .delete(ann, ifVersion: 0),
        .delete(bob, ifVersion: nil),
    ])

    static let mergedChanges = ChangeSet(
        [
            .update(
                ann, ifVersion: 3, values: ["name": "Ann"],
                base: ["name": "An", "courses": .objects([bob])]),
            .update(bob, ifVersion: nil, values: [:], base: ["name": nil]),
        ], onUniqueConflict: .upsert, mergePolicy: .storeWins, author: "the editor",
        idempotencyKey: "7b0c6a52-once", releasedKeys: ["5d1f", "ä"])

    static let editedChanges = ChangeSet([
        .update(
            ann, ifVersion: 3, values: ["name": "Ann"],
            edits: [
                .add([bob, new], to: "courses"), .add([bob], to: "courses", at: .first),
                .add([], to: "courses", at: .index(.max)),
                .remove([ann, bob], from: "friends"),
                .move([bob], in: "courses", to: .last), .move([bob], in: "courses", to: .first),
                .move([bob], in: "courses", to: .before(ann)),
                .move([bob], in: "courses", to: .after(new)),
                .move([bob], in: "courses", to: .index(-1)),
            ]),
        .insert(new, values: [:], edits: [.add([ann], to: "friends", at: .index(0))]),
    ])

    static let changesByPredicate = ChangeSet([
        .updateAll(
            ObjectSelection(
                "Student", where: .tree(tree),
                arguments: ["Ann", [2_001], "Ma", 1, "A*", .value(.object(new))],
                variables: ["n": 3], wantsIdentifiers: true),
            set: [
                PropertyAssignment("birthOfYear", .format("birthOfYear + $n")),
                PropertyAssignment("name", .tree(.argument(0))),
            ]),
        .updateAll(ObjectSelection("Student"), set: []),
        .deleteAll(
            ObjectSelection(
                "Course", where: .format("title == %@"), arguments: ["x"], argumentsAreText: true,
                assumesUTC: true)
        ),
        .deleteAll(ObjectSelection("Course", includesSubentities: false)),
        .updateAll(
            ObjectSelection(
                "Student",
                sort: [SortKey("birthOfYear", descending: true), SortKey(.tree(.keyPath("name")))],
                limit: 10),
            set: [PropertyAssignment("name", .format("uppercase(name)"))]),
        .deleteAll(ObjectSelection("Course", limit: 0)),
    ])

    static let conditionalChanges = ChangeSet(
        [.delete(ann, ifVersion: nil)],
        conditions: [
            .init(
                ObjectSelection(
                    "Student", where: .tree(tree),
                    arguments: ["Ann", [2_001], "Ma", 1, "A*", .value(.object(ann))],
                    variables: ["n": 3], includesSubentities: false)),
            .init(
                ObjectSelection(
                    "Course", where: .format("title == %@"), arguments: ["x"],
                    argumentsAreText: true), count: 3),
            .init(ObjectSelection("Course"), count: .max),
        ], idempotencyKey: "k")

    static func requests() throws -> [(name: String, request: Request)] {
        var requests: [(String, Request)] = [
            (
                "hello",
                .hello(Hello(clientName: "test", schemaVersion: "1.0.0", schemaFingerprint: "ab"))
            ),
            ("get", .get([ann, bob], properties: nil)),
            ("getNone", .get([], properties: [])),
            ("getSome", .get([ann], properties: ["name", "courses"])),
            ("save", .save(changes)),
            ("saveNothing", .save(ChangeSet())),
            ("saveMerging", .save(mergedChanges)),
            ("saveEditing", .save(editedChanges)),
            ("saveByPredicate", .save(changesByPredicate)),
            ("saveConditionally", .save(conditionalChanges)),
            ("schema", .schema),
            ("statistics", .statistics),
            ("activity", .activity), ("metrics", .metrics), ("check", .check), ("ping", .ping),
            ("queryStatistics", .queryStatistics(reset: false)),
            ("resetQueryStatistics", .queryStatistics(reset: true)),
            ("endRequests", .endRequests(connection: .max, request: 7)),
            ("endAllRequests", .endRequests(connection: 1, request: 0)),
            ("credit", .credit(requestID: 7, batches: 2)),
            ("cancel", .cancel(requestID: .max)),
            (
                "insertRows",
                .insertRows(
                    Insertion(
                        "Student", onUniqueConflict: .upsert, author: "the importer",
                        isAtomic: true, wantsIdentifiers: true))
            ),
            ("insertRowsPlainly", .insertRows(Insertion("Student"))),
            ("rows", .rows(requestID: 7, Batch(rowCount: 3, columns: columns), isLast: false)),
            ("rowsLast", .rows(requestID: .max, nil, isLast: true)),
        ]
        for (name, query) in queries {
            requests.append(("query.\(name)", .query(try request(query))))
        }
        requests.append(("explain", .explain(try request(queries[0].query))))
        requests.append(("analyze", .analyze(try request(queries[0].query))))
        return requests + historyRequests + (try liveRequests()) + backupRequests
            + migrationRequests
    }

    static let batch = Batch(
        rowCount: 3,
        identity: .init(entityName: "Student", keys: [1, 2, .max], versions: [1, 1, 9]),
        columns: columns)

    /// Rows and references of an entity and of others below it.
    static let mixedBatch = Batch(
        rowCount: 3,
        identity: .init(
            entityName: "Person", keys: [1, 2, 3], versions: [1, 1, 1],
            subentities: Subentities(names: ["Student", "Tutor"], indexes: [2, 0, 1])),
        columns: [
            Column(
                name: "mentor", kind: .object(entityName: "Person"),
                storage: .integers([3, 0, 2]), nulls: [0b010],
                subentities: Subentities(names: ["Student"], indexes: [1, 0, 0])),
            Column(
                name: "pupils", kind: .objects(entityName: "Person"),
                storage: .lists(keys: [1, 2, 3], ends: [0, 2, 3]),
                subentities: Subentities(names: ["Tutor", "Student"], indexes: [1, 0, 2])),
        ])

    static let columns: [Column] = [
        Column(name: "b", kind: .attribute(.bool), storage: .integers([0, 1, 0]), nulls: [0b100]),
        Column(name: "i16", kind: .attribute(.int16), storage: .integers([-1, 0, 1])),
        Column(name: "i32", kind: .attribute(.int32), storage: .integers([-1, 0, 1])),
        Column(name: "i64", kind: .attribute(.int64), storage: .integers([.min, 0, .max])),
        Column(name: "f", kind: .attribute(.float), storage: .doubles([0.5, 0, -1])),
        Column(name: "d", kind: .attribute(.double), storage: .doubles([0.1, 0, -1e300])),
        Column(name: "t", kind: .attribute(.date), storage: .doubles([0, 1.5, -1])),
        Column(
            name: "n", kind: .attribute(.decimal),
            storage: .bytes(heap: Array("1.50-3".utf8), ends: [4, 4, 6]), nulls: [0b010]),
        Column(
            name: "s", kind: .attribute(.string),
            storage: .bytes(heap: Array("Annédo".utf8), ends: [3, 5, 7])),
        Column(
            name: "u", kind: .attribute(.uuid),
            storage: .bytes(heap: Array(0..<32), ends: [16, 16, 32]), nulls: [0b010]),
        Column(
            name: "l", kind: .attribute(.url),
            storage: .bytes(heap: Array("a:b".utf8), ends: [3, 3, 3]), nulls: [0b110]),
        Column(
            name: "x", kind: .attribute(.data),
            storage: .bytes(heap: [0, 255], ends: [0, 1, 2])),
        Column(
            name: "j", kind: .attribute(.json),
            storage: .bytes(heap: Array("[]{}1".utf8), ends: [2, 4, 5])),
        Column(
            name: "o", kind: .object(entityName: "Course"), storage: .integers([4, 0, 5]),
            nulls: [0b010]),
        Column(
            name: "m", kind: .objects(entityName: "Course"),
            storage: .lists(keys: [4, 5, 6], ends: [2, 2, 3])),
    ]

    static let failure = LarderError(
        .malformedPredicate, "the predicate of Student ends too soon", hint: "close the bracket",
        column: 17, uri: "x-coredata://A/Student/p1", problems: ["one", "two"])

    static let details = [
        ChangeViolation(
            .validationFailed, "too long", change: 2, entityName: "Student",
            propertyNames: ["name"], valueKind: "a string", rule: .maxLength),
        ChangeViolation(
            .uniquenessViolated, "the same", entityName: "Student",
            propertyNames: ["name", "birthOfYear"], uri: "x-coredata://A/Student/p1",
            rule: .unique),
        ChangeViolation(
            .versionConflict, "changed", change: 0, rule: .version,
            conflict: MergeConflict(
                storedVersion: 4, expectedVersion: 3,
                properties: values.map {
                    MergeConflict.Property(name: $0.name, base: nil, stored: $0.value, given: nil)
                } + [
                    MergeConflict.Property(name: "name", base: "a", stored: "b", given: "c")
                ])),
        ChangeViolation(
            .objectNotFound, "gone", change: 70_000, rule: .version,
            conflict: MergeConflict(storedVersion: 0, expectedVersion: nil, properties: [])),
        ChangeViolation(
            .conditionFailed, "not met", entityName: "Student", rule: .condition, condition: 3,
            found: 0),
    ]

    static let replies =
        otherReplies + historyReplies + liveReplies + backupReplies + migrationReplies

    private static let otherReplies: [(name: String, reply: Reply)] = [
        (
            "welcome",
            .welcome(
                Welcome(
                    serverName: "larderd 0.1", storeIdentifier: store, schemaVersion: "1.0.0",
                    schemaFingerprint: "0123456789abcdef", isReadOnly: true,
                    capabilities: ["explain", "é"], frameBytesMax: 16 << 20,
                    requestsInFlightMax: 32, historyEpoch: token.epoch))
        ),
        ("batches", .batches([batch], more: true)),
        ("batchesOfGet", .batches([batch, batch], more: false)),
        ("batchesOfSeveralEntities", .batches([mixedBatch], more: false)),
        ("noBatches", .batches([], more: false)),
        (
            "noRows",
            .batches(
                [
                    Batch(columns: [
                        Column(name: "count", kind: .attribute(.int64), storage: .integers([]))
                    ])
                ], more: false)
        ),
        (
            "saved",
            .saved(
                SaveResult(
                    inserted: [ann, bob], updatedVersions: [4, 2], deletedCount: 3,
                    transaction: 1_000_000))
        ),
        ("savedMerged", .saved(SaveResult(updatedVersions: [4, 0], merged: [0, 1, 70_000]))),
        ("savedUpserted", .saved(SaveResult(inserted: [ann, bob], transaction: 3, upserted: [1]))),
        (
            "savedByPredicate",
            .saved(
                SaveResult(
                    affected: [
                        AffectedObjects(count: 2, identifiers: [ann, bob]),
                        AffectedObjects(count: 5_000_000_000),
                    ]))
        ),
        (
            "explained",
            .explained(
                Explanation(plan: "fetch\n  scan", sql: "SELECT 1", steps: ["SCAN"], warnings: []))
        ),
        (
            "analyzed",
            .explained(
                Explanation(
                    plan: "fetch", sql: "SELECT 1", steps: [], warnings: ["", "w"],
                    indexes: ["Student: {}"],
                    execution: [Statistic("rows", .int(-1)), Statistic("time", .double(0.5))]))
        ),
        ("queryStatistics", .queryStatistics(queryStatistics)),
        ("noQueryStatistics", .queryStatistics(QueryStatistics(since: .distantPast))),
        ("schema", .schema(#"{"version":"1.0.0","entities":[]}"#)),
        ("statistics", .statistics(values.map { Statistic($0.name, $0.value) })),
        (
            "checked",
            .checked(
                CheckReport(
                    findings: [
                        CheckFinding(location: "file", message: "a page is torn"),
                        CheckFinding(
                            location: "Article.category", uri: "x-coredata://…/Article/p5",
                            message: "it leads to an object that is not there"),
                    ], isTruncated: true))
        ),
        (
            "inserted",
            .inserted(
                InsertedRows(
                    rowCount: 5_000_000_000, batchCount: 3,
                    keys: [KeyRange(first: 1, count: 70_000), KeyRange(first: .max, count: 1)],
                    transaction: 9), more: true)
        ),
        ("insertedNothing", .inserted(InsertedRows(), more: false)),
        ("pong", .pong),
        ("activity", .activity(activity)), ("tracedActivity", .activity(tracedActivity)),
        ("metrics", .metrics("# HELP é\n")), ("requestsEnded", .requestsEnded(.max)),
        ("failed", .failed(failure)),
        ("failedChanges", .failed(LarderError(.versionConflict, "two", details: details))),
        ("failedPlainly", .failed(LarderError(.timeout, "the time is up"))),
    ]
}
