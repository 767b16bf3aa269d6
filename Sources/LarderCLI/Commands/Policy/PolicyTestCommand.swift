import ArgumentParser
import LarderModel
import LarderPrograms
import LarderQuery
import LarderServer
import LarderStore

struct PolicyTestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Show the role of a user, its rules, and how many objects the user sees.",
        discussion: """
            EXAMPLES:
              larder policy test school.policy --schema school.json --as ann
              larder policy test school.policy --store school.store --as 1001 Student
              larder policy test p.policy --store s.store --as ann Task --where 'cost > 9'

            Prints one line for each entity: the role of the user, the rules that decide for which \
            objects the user has which right, and with --store how many objects the user sees and \
            how many there are. No server may have the store open.

            A user without a role is refused (status 5). root and the owner of the store need no \
            role.
            """)

    @Argument(
        help: ArgumentHelp("Policy file; - for standard input.", valueName: "file"),
        completion: .file())
    var file: String

    @Argument(help: ArgumentHelp("Entity. Default: all of them.", valueName: "entity"))
    var entity: EntityName?

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("User: a name or a number.", valueName: "user"))
    var user: String

    @Option(help: ArgumentHelp("Path of the user's program.", valueName: "path"))
    var program: String?

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp("Count the objects that match.", valueName: "predicate"))
    var predicate: String?

    @Option(
        help: ArgumentHelp("Store file.", valueName: "file"), completion: .file())
    var store: String?

    @Option(help: ArgumentHelp("Schema file, without --store.", valueName: "file"))
    var schema: String?

    @OptionGroup var output: OutputOption

    func validate() throws {
        guard (store == nil) != (schema == nil) else {
            throw ValidationError("either --store or --schema is required")
        }
        if predicate != nil, store == nil || entity == nil {
            throw ValidationError("--where requires --store and an entity")
        }
    }

    func run() throws {
        var options = StoreOptions()
        options.isReadOnly = true
        let store = try store.map { (path) throws(LarderError) in
            try Store.open(path: path, schema: nil, options: options)
        }
        let schema: Schema
        if let store {
            schema = store.storeDescription.schema
        } else {
            schema = try SchemaDocument.read(InputFile(self.schema ?? "-"))
        }
        let policy = try PolicyDocument.read(InputFile(file), for: schema)
        guard let number = UInt32(user) ?? UserDatabase.user(named: user) else {
            throw LarderError(.malformedValue, "there is no user \(user)")
        }
        let principal = Principal(user: number, program: program)
        guard let role = policy.role(of: principal) else {
            throw LarderError(.permissionDenied, "user \(user) has no role in \(file)")
        }
        let rights = Rights(try RoleRights(role, in: schema), of: principal)
        let entities =
            try entity.map { (entity) throws(LarderError) in
                [try schema.existingEntity(named: entity.name)]
            } ?? schema.entities
        var writer = output.format.makeWriter()
        var rows: [[Value]] = []
        for entity in entities {
            let rules = EntityRights.Right.allCases.map { rights.rule($0, of: entity.name).text }
            var row = ([role.name, entity.name] + rules).map { Value.string($0) }
            if let store { row += try counts(of: entity, rights, store) }
            rows.append(row)
        }
        try writer.write(
            all: rows,
            names: ["role", "entity"] + EntityRights.Right.allCases.map(\.rawValue)
                + (store == nil ? [] : ["seen", "objects"]))
    }

    /// How many objects the user sees, and how many there are.
    private func counts(
        of entity: Entity, _ rights: Rights, _ store: Store
    ) throws(LarderError) -> [Value] {
        let total = try count(entity, store, store)
        guard rights.schema.entity(named: entity.name) != nil else { return [.int(0), total] }
        return [try count(entity, store.limitedView(rights), store), total]
    }

    private func count(
        _ entity: Entity, _ view: any StoreView, _ store: Store
    ) throws(LarderError) -> Value {
        let query = Query.count(
            entityName: entity.name, predicate: predicate.map { .format($0) })
        let plan = try view.plan(query, QueryParameters())
        do throws(ReadFailure) {
            let reader: any StoreReader
            do throws(LarderError) { reader = try store.makeReader() } catch {
                throw .failed(error)
            }
            let cursor = try reader.open(plan, QueryParameters(), budget: ReadBudget())
            defer { cursor.close() }
            let batch = try cursor.next(bytesMax: 1 << 20, budget: ReadBudget()).batch
            return batch.value(row: 0, column: 0, store: store.storeDescription.identifier)
        } catch {
            throw error.larderError
        }
    }
}

extension Rights.Rule {
    fileprivate var text: String {
        switch self {
        case .denied: "no"
        case .granted: "yes"
        case .when(let expression): expression.format
        }
    }
}
