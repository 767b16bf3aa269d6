import ArgumentParser
import Glibc
import LarderModel

struct ServiceListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the services that have a configuration.",
        discussion: """
            EXAMPLES:
              larder service list
              larder service list --user --output json

            Prints the name, the states of the socket and of the server, the group of the socket, \
            and its path. A server that is inactive starts with the next connection, if its socket \
            is active. With --root, there is no state.
            """)

    @Flag(help: "The services of this user, and not of the system.")
    var user = false

    @Option(
        help: ArgumentHelp("Folder of another system.", valueName: "folder"),
        completion: .directory)
    var root: String?

    @OptionGroup var output: OutputOption

    func validate() throws {
        if user, root != nil { throw ValidationError("--user and --root cannot be combined") }
    }

    func run() throws {
        let layout = try ServiceLayout(isOfUser: user, root: root)
        let names = layout.names()
        let states =
            layout.hasManager
            ? try Systemctl.states(
                of: names.flatMap {
                    [ServiceLayout.socketUnit($0), ServiceLayout.serviceUnit($0)]
                }, layout) : []
        var writer = output.format.makeWriter()
        try writer.write(
            all: names.enumerated().map { index, name in
                let own = states.dropFirst(2 * index).prefix(2)
                let socket = layout.socket(name)
                return [
                    .string(name), own.first.map(Value.string) ?? .null,
                    own.last.map(Value.string) ?? .null,
                    Self.group(of: socket).map(Value.string) ?? .null, .string(socket),
                ]
            }, names: ["name", "socketState", "serverState", "group", "socket"])
    }

    /// The name of a socket's group, or its number; nil if there is no socket.
    private static func group(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        guard let name = getgrgid(status.st_gid)?.pointee.gr_name else {
            return "\(status.st_gid)"
        }
        return String(cString: name)
    }
}
