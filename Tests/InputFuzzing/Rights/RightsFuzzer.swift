import FoundationEssentials
import LarderModel
import LarderQuery
import LarderServer
import LarderStore
import LarderWire
import TestSupport

/// Users with random rights send requests of every kind to a server, and each reply is compared
/// with what ``UserRights`` says that the user may see.
///
/// A round has a store and some policies. The model reads the store as root does, who has no
/// limits, and applies the rules to dictionaries; it shares nothing with the planner and the
/// checks of the writer. A reply that differs is a ``Leak``, also one that has too little.
public final class RightsFuzzer {
    public struct Account {
        public var policyCount = 0
        /// By the kind of request.
        public var kinds: [String: Int] = [:]
        /// The objects that the users may see, and those that they may not.
        public var visibleCount = 0
        public var hiddenCount = 0
        public var acceptedWriteCount = 0
        public var refusedWriteCount = 0

        public init() {}
    }

    public struct Leak: Error, CustomStringConvertible {
        public let description: String
    }

    struct User {
        let rights: UserRights
        let connection: RawConnection
    }

    public private(set) var account = Account()
    var random: SeededGenerator
    let store: Store
    private let server: Server
    private let log = RightsLog()
    /// The connection of root.
    private(set) var root: RawConnection
    private(set) var users: [User] = []
    /// The contents of the store.
    private(set) var world = RightsWorld()
    private var textCount = 0
    private var markCount: Int64 = 0

    private static let policiesPerRound = 20
    private static let requestsPerPolicy = 12
    private static let timeMax: Duration = .seconds(600)

    /// Runs rounds until there were so many policies.
    ///
    /// - Throws: ``Leak``, with the seed of its round.
    public static func run(
        policies count: Int, _ generator: inout SeededGenerator, _ account: inout Account
    ) throws {
        while account.policyCount < count {
            let seed = generator.next()
            do {
                let fuzzer = try RightsFuzzer(SeededGenerator(seed: seed))
                fuzzer.account = account
                defer { account = fuzzer.account }
                for _ in 0..<min(policiesPerRound, count - account.policyCount) {
                    try fuzzer.runPolicy()
                }
            } catch {
                throw Leak(description: "seed of the round \(seed): \(error)")
            }
        }
    }

    init(_ random: SeededGenerator) throws {
        self.random = random
        store = try Store.inMemory(schema: SchemaFile.schema(parsing: RightsWorld.schema))
        var options = Server.Options(name: "rights")
        options.spoolFolder = "/dev/shm"
        // A busy machine is no leak.
        options.limits.handshakeTimeMax = Self.timeMax
        options.limits.readTimeMax = Self.timeMax
        options.limits.readerWaitTimeMax = Self.timeMax
        options.limits.writeWaitTimeMax = Self.timeMax
        server = try Server(backend: store, options: options, logger: log.logger)
        root = try Self.connect(to: server, as: 0)
        for _ in 0..<5 { try save([insertList()]) }
        for name in RightsRead.owners {
            try save([.insert(new("Tag"), values: ["name": .string(name)])])
        }
        try refresh()
        for _ in 0..<12 { try save([insertTask()]) }
        try refresh()
    }

    deinit {
        users = []
        server.stopAndWait()
    }

    private static func connect(to server: Server, as user: UInt32) throws -> RawConnection {
        let connection = try RawConnection(to: server, as: user)
        let reply = try connection.reply(to: .hello(Hello(clientName: "rights")))
        guard case .welcome = reply else {
            throw Leak(description: "user \(user) cannot connect: \(String(describing: reply))")
        }
        return connection
    }

    // MARK: A policy

    private func runPolicy() throws {
        var rights = [4_000_001, 4_000_002].map { UserRights.random($0, using: &random) }
        var policy = Policy()
        if chance(3) {
            // Both have one role, whose rules name the user.
            rights[1] = rights[0].of(rights[1].user)
            policy.roles = [rights[0].role("both", of: rights.map(\.name))]
        } else {
            policy.roles = rights.map { $0.role("role\($0.user)", of: [$0.name]) }
        }
        server.setPolicy(policy)
        root = try Self.connect(to: server, as: 0)
        users = try rights.map {
            User(rights: $0, connection: try Self.connect(to: server, as: $0.user))
        }
        account.policyCount += 1
        do {
            try changeByRoot()
            for _ in 0..<Self.requestsPerPolicy {
                let user = users[Int.random(in: 0..<2, using: &random)]
                let kind = Self.kinds.randomElement(using: &random) ?? Self.kinds[0]
                account.kinds[kind.name, default: 0] += 1
                do {
                    try kind.perform(self)(user)
                } catch {
                    throw Leak(
                        description: "\(kind.name): \(error)\nby \(user.rights)\nof \(world)")
                }
            }
        }
        for rights in rights {
            let seen = rights.visible(world)
            account.visibleCount += seen.tasks.count
            account.hiddenCount += world.tasks.count - seen.tasks.count
        }
        if let line = log.lines(containing: RightsWorld.marker).first {
            throw Leak(description: "the log has a value: \(line)")
        }
    }

    typealias Kind = (name: String, perform: (RightsFuzzer) -> (User) throws -> Void)

    /// Reads are chosen more often, since each is one of many queries.
    private static var kinds: [Kind] {
        Array(repeating: ("query", RightsFuzzer.query), count: 6)
            + Array(repeating: ("write", RightsFuzzer.write), count: 4)
            + [
                ("get", RightsFuzzer.get), ("cached get", RightsFuzzer.cachedGet),
                ("snapshot", RightsFuzzer.snapshot), ("history", RightsFuzzer.history),
                ("history objects", RightsFuzzer.historyObjects), ("feed", RightsFuzzer.feed),
                ("observe", RightsFuzzer.observe), ("store right", RightsFuzzer.storeRight),
                ("activity", RightsFuzzer.activity), ("schema", RightsFuzzer.schema),
                ("misspelled name", RightsFuzzer.misspelledName),
                ("uniqueness", RightsFuzzer.uniqueness), ("idempotency", RightsFuzzer.idempotency),
                ("missing object", RightsFuzzer.missingObject),
                ("condition", RightsFuzzer.condition),
                ("insert stream", RightsFuzzer.insertStream),
            ]
    }

    /// The names of all kinds of requests.
    public static var kindNames: Set<String> { Set(kinds.map(\.name)) }

    func noteWrite(isAccepted: Bool) {
        if isAccepted { account.acceptedWriteCount += 1 } else { account.refusedWriteCount += 1 }
    }

    // MARK: Random changes

    func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    func new(_ entityName: String) -> PersistentIdentifier {
        PersistentIdentifier(temporary: "new", entityName: entityName)
    }

    func object(_ entityName: String, _ key: Int64) -> PersistentIdentifier {
        PersistentIdentifier(
            store: store.storeDescription.identifier, entityName: entityName, key: key)
    }

    func task(_ key: Int64) -> PersistentIdentifier {
        object(world.tasks[key]?.entityName ?? "Task", key)
    }

    func owner() -> String { RightsRead.owners.randomElement(using: &random) ?? "" }

    private func text(_ letter: String) -> String {
        textCount += 1
        let digits = String(textCount)
        let zeros = String(repeating: "0", count: max(0, 7 - digits.count))
        return "\(RightsWorld.marker)\(letter)\(zeros)\(digits)"
    }

    func insertList() -> Change {
        .insert(
            new("List"),
            values: [
                "owner": .string(owner()), "size": .int(.random(in: 0...5, using: &random)),
            ])
    }

    /// A random value for a property of a task.
    func value(of property: String) -> Value {
        switch property {
        case "title": .string(text("t"))
        case "done": .bool(.random(using: &random))
        case "cost": .int(.random(in: 0...9, using: &random))
        case "note":
            chance(4) ? .null : .string(text("n") + (chance(2) ? " red apple" : " green pear"))
        case "list":
            chance(4)
                ? .null
                : world.lists.keys.sorted().randomElement(using: &random).map {
                    .object(object("List", $0))
                } ?? .null
        default:
            .objects(
                world.tags.keys.sorted().filter { _ in chance(3) }.map { object("Tag", $0) })
        }
    }

    static let taskProperties = ["title", "done", "cost", "note", "list", "tags"]

    func insertTask(_ names: [String] = taskProperties) -> Change {
        var values: [String: Value] = [:]
        for name in names { values[name] = value(of: name) }
        return .insert(new(chance(4) ? "Memo" : "Task"), values: values)
    }

    /// A change of an object, which decides what users see.
    func randomChange() -> Change {
        let list = world.lists.keys.sorted().randomElement(using: &random)
        let tag = world.tags.keys.sorted().randomElement(using: &random)
        let task = world.tasks.keys.sorted().randomElement(using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0: if world.lists.count < 8 { return insertList() }
        case 1, 2: if world.tasks.count < 16 { return insertTask() }
        case 3:
            if let list, world.lists.count > 4 {
                return .delete(object("List", list), ifVersion: nil)
            }
        case 4:
            if let task, world.tasks.count > 8 { return .delete(self.task(task), ifVersion: nil) }
        case 5, 6:
            if let list {
                let size = Int64.random(in: 0...5, using: &random)
                return .update(
                    object("List", list), ifVersion: nil,
                    values: ["owner": .string(owner()), "size": .int(size)])
            }
        case 7:
            if let tag {
                return .update(
                    object("Tag", tag), ifVersion: nil, values: ["name": .string(owner())])
            }
        default:
            if let task {
                let name = Self.taskProperties.randomElement(using: &random) ?? "done"
                return .update(self.task(task), ifVersion: nil, values: [name: value(of: name)])
            }
        }
        return insertTask()
    }

    // MARK: Root

    private func save(_ changes: [Change]) throws {
        let reply = try root.reply(to: .save(ChangeSet(changes)))
        guard case .saved = reply else {
            throw Leak(description: "root cannot save \(changes): \(String(describing: reply))")
        }
    }

    /// Changes an object as root.
    func changeByRoot() throws {
        try save([randomChange()])
        try refresh()
    }

    func update(task key: Int64, _ values: [String: Value]) throws {
        try save([.update(task(key), ifVersion: nil, values: values)])
        try refresh()
    }

    /// Inserts an object that everybody sees.
    ///
    /// - Returns: the number of the transaction.
    func mark() throws -> Int64 {
        markCount += 1
        let change = Change.insert(new("Mark"), values: ["number": .int(markCount)])
        guard case .saved(let result) = try root.reply(to: .save(ChangeSet([change]))),
            let number = result.transaction
        else { throw Leak(description: "root cannot save") }
        return number
    }

    /// Reads the whole store as root.
    func refresh() throws {
        func rows(_ entity: String, _ columns: [String]) throws -> [(Int64, String, [Value])] {
            let query = Query.fetch(
                Fetch(entity, selection: .columns(columns.map { QueryColumn($0) })))
            let id = try root.open(.query(QueryRequest(query)))
            defer { root.forget(id) }
            guard case .batches(let batches, more: false) = try root.next(id) else {
                throw Leak(description: "root cannot read \(entity)")
            }
            return batches.flatMap { batch in
                (0..<batch.rowCount).map { row in
                    let values = batch.columns.map {
                        $0.value(at: row, store: store.storeDescription.identifier)
                    }
                    return (
                        batch.identity?.keys[row] ?? 0,
                        batch.identity?.entityName(at: row) ?? "", values
                    )
                }
            }
        }
        var read = RightsWorld()
        for (key, _, values) in try rows("List", ["owner", "size"]) {
            read.lists[key] = RightsWorld.List(owner: values[0].text, size: values[1].integer)
        }
        for (key, _, values) in try rows("Tag", ["name"]) {
            read.tags[key] = RightsWorld.Tag(name: values[0].text)
        }
        for (key, entity, values) in try rows("Task", Self.taskProperties) {
            read.tasks[key] = RightsWorld.Task(
                isMemo: entity == "Memo", title: values[0].text, done: values[1] == .bool(true),
                cost: values[2].integer, note: values[3].isNull ? nil : values[3].text,
                list: values[4].keys.first, tags: Set(values[5].keys))
        }
        world = read
    }
}

extension Value {
    fileprivate var text: String { if case .string(let text) = self { text } else { "" } }
    fileprivate var integer: Int64 { if case .int(let number) = self { number } else { 0 } }
    fileprivate var keys: [Int64] {
        switch self {
        case .object(let object): [object.permanentKey ?? 0]
        case .objects(let objects): objects.map { $0.permanentKey ?? 0 }
        default: []
        }
    }
}
