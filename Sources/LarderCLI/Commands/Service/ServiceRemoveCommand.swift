import ArgumentParser
import Glibc
import LarderModel

struct ServiceRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Stop a server of systemd, and remove its configuration.",
        discussion: """
            EXAMPLES:
              sudo larder service remove school
              sudo larder service remove school --delete-store --dry-run

            Stops and disables the socket, the server and the backups, and removes the \
            configuration, the schema, the policy and the settings. The store and its backups \
            stay; the store contains its schema, so that `larder service create NAME` without \
            --schema serves it again.
            """)

    @Argument(help: ArgumentHelp("Name of the service.", valueName: "name"))
    var name: ServiceName

    @Flag(help: "Delete the store, too, with all its objects. Its backups stay.")
    var deleteStore = false

    @OptionGroup var service: ServiceOptions
    @OptionGroup var output: OutputOption

    func run() throws {
        let layout = try ServiceLayout(isOfUser: service.user, root: service.root)
        if !service.dryRun { try layout.checkAccess(user: geteuid()) }
        guard layout.names().contains(name.text) else {
            let folder = layout.configurationFolder
            throw LarderError(
                .objectNotFound,
                "there is no service \(name.text): \(folder) has no configuration of it",
                hint: NameSuggestion.hint(for: name.text, among: layout.names())
                    ?? "larder service list prints the services")
        }
        let plan = ServicePlan.removing(
            name.text, deletesStore: deleteStore, in: layout)
        if service.dryRun { return try output.format.write(plan) }
        try plan.perform()
        guard !deleteStore, access(layout.storeFile(name.text), F_OK) == 0 else { return }
        var writer = output.format.makeWriter()
        try writer.write(
            all: [[.string(layout.storeFile(name.text))]], names: ["keptStore"])
    }
}
