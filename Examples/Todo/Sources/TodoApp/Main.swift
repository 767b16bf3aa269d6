import ArgumentParser
import Foundation
import Hummingbird
import TodoStore
import TodoValues
import TodoWeb

@main
struct TodoProgram: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "todo", abstract: "Groups and tasks as web pages on this machine.",
        discussion: "Several processes can use one file, each with a port of its own.")

    @Option(help: "The file of the store; without it, the pages show mocks.")
    var store: String?
    @Option(help: "The port on the loopback address; 0 for a free one.")
    var port = 8080

    func validate() throws {
        guard (0...65_535).contains(port) else {
            throw ValidationError("a port is a number from 0 to 65535")
        }
    }

    func run() async throws {
        let todo: any Todo =
            if let store { try StoredTodo(at: URL(filePath: store)) } else { MockTodo.sample() }
        let application = Application(
            router: todoRouter(todo),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                // Another process may wait for the line.
                let line = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)/\n"
                FileHandle.standardOutput.write(Data(line.utf8))
            })
        try await application.runService()
    }
}
