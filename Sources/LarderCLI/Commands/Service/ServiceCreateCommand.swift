import ArgumentParser
import FoundationEssentials
import Glibc
import LarderClient
import LarderModel
import LarderPrograms
import LarderServer
import LarderStore

struct ServiceCreateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a store and a server that systemd starts.",
        discussion: """
            EXAMPLES:
              sudo larder service create school --schema school.json --group staff
              sudo larder service create school --schema school.json --keep-backups 7 --dry-run
              larder service create notes --schema notes.json --user
              sudo larder service create tasks --schema tasks.json --policy tasks.policy

            Copies the schema to /etc/larder/NAME.json, and the policy to /etc/larder/NAME.policy, \
            writes the configuration /etc/larder/NAME.toml, enables the socket \
            /run/larder/NAME.sock, and connects to it, so that the server creates \
            /var/lib/larder/NAME.store. With --user the files are in ~/.config/larder and \
            ~/.local/share/larder, and the socket is in $XDG_RUNTIME_DIR/larder. After an error, \
            everything is as it was before.

            Without --schema, the service gets the store that exists in that folder, such as a \
            restored backup. Prints the name, the socket and the store.

            After a change of the policy, `systemctl reload larder@NAME` makes the server read it \
            again.
            """)

    @Argument(
        help: ArgumentHelp(
            "Name of the service and its store: up to \(ServiceName.lengthMax) letters, digits, "
                + "hyphens and underscores.", valueName: "name"))
    var name: ServiceName

    @Option(
        help: ArgumentHelp("Schema of the new store.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var schema: String?

    @Option(
        help: ArgumentHelp("Policy: who may do what. Default: none.", valueName: "file"),
        completion: .file())
    var policy: String?

    @Option(
        help: ArgumentHelp(
            "Group whose members may connect. Default: larder.", valueName: "group"))
    var group: String?

    @Option(
        help: ArgumentHelp(
            "Back up the store every day, and keep this number of backups. Default: no backups.",
            valueName: "number"))
    var keepBackups: Int?

    @OptionGroup var service: ServiceOptions

    @Option(
        help: ArgumentHelp(
            "Maximum time until the server replies: 500ms, 10s, 2m. Default: 30s.",
            valueName: "time"))
    var timeout: TimeLimit?

    @OptionGroup var output: OutputOption

    private static let keepBackupsMax = 10_000
    private static let timeLimitDefault = Duration.seconds(30)

    func validate() throws {
        if service.user, group != nil {
            throw ValidationError("--user and --group cannot be combined: the socket is the user's")
        }
        if let keepBackups, !(1...Self.keepBackupsMax).contains(keepBackups) {
            throw ValidationError(
                "--keep-backups must be a number from 1 to \(Self.keepBackupsMax)")
        }
    }

    func run() throws {
        let layout = try ServiceLayout(isOfUser: service.user, root: service.root)
        if !service.dryRun { try layout.checkAccess(user: geteuid()) }
        try checkGroup(layout)
        let plan = try ServicePlan.creating(creation(layout), in: layout)
        if service.dryRun { return try output.format.write(plan) }
        let socket = layout.socket(name.text)
        try plan.perform {
            if layout.hasManager { try connect(to: socket) }
        }
        var writer = output.format.makeWriter()
        try writer.write(
            all: [
                [.string(name.text), .string(socket), .string(layout.storeFile(name.text))]
            ], names: ["name", "socket", "store"])
    }

    /// Checks what exists already, and the schema, by creating a store in memory.
    private func creation(_ layout: ServiceLayout) throws -> ServicePlan.Creation {
        let (schemaFile, storeFile) = (layout.schemaFile(name.text), layout.storeFile(name.text))
        let hasSchema = access(schemaFile, F_OK) == 0
        let hasStore = access(storeFile, F_OK) == 0
        var creation = ServicePlan.Creation(
            name: name.text, schema: nil, hasPolicy: policy != nil, adoptsStore: hasStore,
            group: group, backupsMax: keepBackups)
        try checkAbsence(of: layout.configurationFile(name.text))
        guard let schema else {
            guard hasStore else {
                throw LarderError(
                    .malformedSchema, "--schema is missing, and there is no \(storeFile)",
                    hint: "pass --schema FILE to create a store")
            }
            if !hasSchema || policy != nil {
                let store = try Store.open(
                    path: storeFile, schema: nil, options: StoreOptions(isReadOnly: true))
                let stored = store.storeDescription.schema
                if !hasSchema { creation.schema = stored.fileText }
                creation.policy = try policyText(layout, for: stored)
            }
            return creation
        }
        for (exists, file) in [(hasSchema, schemaFile), (hasStore, storeFile)] where exists {
            throw LarderError(
                .fileExists, "\(file) exists already",
                hint: "choose another name, or leave out --schema to serve the store that exists")
        }
        let parsed = try SchemaDocument.read(InputFile(schema))
        _ = try Store.inMemory(schema: parsed)
        creation.schema = parsed.fileText
        creation.policy = try policyText(layout, for: parsed)
        return creation
    }

    private func checkAbsence(of file: String) throws(LarderError) {
        guard access(file, F_OK) == 0 else { return }
        throw LarderError(
            .fileExists, "\(file) exists already", hint: "remove it, or choose another name")
    }

    /// The text of the policy, which fits the schema; nil without one.
    private func policyText(_ layout: ServiceLayout, for schema: Schema) throws -> String? {
        guard let policy else { return nil }
        try checkAbsence(of: layout.policyFile(name.text))
        return try PolicyDocument.readWithText(InputFile(policy), for: schema).text
    }

    private func checkGroup(_ layout: ServiceLayout) throws {
        guard let group else { return }
        guard ServiceName.isGroup(group),
            !layout.hasManager || UserDatabase.group(named: group) != nil
        else {
            throw ValidationError("--group: there is no group \(EscapedText.escaped(group))")
        }
    }

    /// Starts the server by connecting to its socket, as its clients will.
    private func connect(to socket: String) throws {
        var options = StoreClient.Options()
        options.clientName = "larder"
        let timeLimit = timeout?.duration ?? Self.timeLimitDefault
        options.connectTimeout = timeLimit
        options.requestTimeout = timeLimit
        do {
            let client = try StoreClient.connect(to: socket, options: options)
            defer { client.close() }
            try client.ping()
        } catch {
            let journal = service.user ? "journalctl --user --unit" : "journalctl --unit"
            throw LarderError(
                error.code, "the server does not start, and the service was removed again",
                hint: "its log: \(journal) \(ServiceLayout.serviceUnit(name.text))",
                problems: [error.message])
        }
    }
}
