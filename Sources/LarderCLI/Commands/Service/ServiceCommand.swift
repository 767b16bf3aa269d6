import ArgumentParser

struct ServiceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service",
        abstract: "Create, list and remove servers that systemd starts.",
        discussion: """
            EXAMPLES:
              sudo larder service create school --schema school.json --group staff
              larder service list
              sudo larder service remove school

            A service has a name, here school, and serves one store. systemd listens at its \
            socket, and starts larderd with the first connection. docs/operating.md describes the \
            units and what to change in them.
            """,
        subcommands: [
            ServiceCreateCommand.self, ServiceListCommand.self, ServiceRemoveCommand.self,
        ])
}

/// The service manager of a command: that of the system or that of the user.
struct ServiceOptions: ParsableArguments {
    @Flag(help: "A service of this user, and not of the system.")
    var user = false

    @Option(
        help: ArgumentHelp(
            "Folder of another system, whose files are changed and which is not started.",
            valueName: "folder"),
        completion: .directory)
    var root: String?

    @Flag(help: "Print the steps, and change nothing.")
    var dryRun = false

    func validate() throws {
        if user, root != nil { throw ValidationError("--user and --root cannot be combined") }
    }
}

extension OutputFormat {
    /// Prints the steps of a plan that is not performed.
    func write(_ plan: ServicePlan) throws {
        var writer = makeWriter()
        try writer.write(
            all: plan.steps.map { step in
                let (kind, object) = step.description
                return [.string(kind), .string(object)]
            }, names: ["step", "object"])
    }
}
