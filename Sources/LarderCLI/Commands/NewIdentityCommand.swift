import ArgumentParser
import LarderModel
import LarderStore

struct NewIdentityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new-identity",
        abstract: "Give a copy of a store file an identity of its own.",
        discussion: """
            EXAMPLES:
              cp school.store copy.store && larder new-identity copy.store

            A copied file has the identity of the original, so that each of the two stores accepts \
            identifiers of the other. This command gives the file a new one and prints it. Objects \
            and history stay as they are; identifiers from before are refused as those of another \
            store. No server may have the file open.
            """)

    @Argument(
        help: ArgumentHelp("Store file.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    func run() throws {
        let store = try Store.open(
            path: file, schema: nil, options: StoreOptions(assignsNewIdentifier: true))
        var writer = output.format.makeWriter()
        try writer.write(all: [[.uuid(store.storeDescription.identifier)]], names: ["store"])
    }
}
