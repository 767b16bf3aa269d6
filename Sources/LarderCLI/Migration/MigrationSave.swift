import LarderClient
import LarderModel
import LarderPrograms
import LarderQuery

/// A stage that saves a change set, in the lines of `larder save`.
enum MigrationSave {
    static func run(_ path: String, _ client: StoreClient) throws {
        let input = try InputFile(path)
        var reader = ChangeSetReader(
            schema: try client.schema(), store: client.server.storeIdentifier)
        try reader.read(input)
        do throws(LarderError) {
            _ = try client.save(reader.changes)
        } catch {
            let lines = ChangeLineNumbers(
                fileName: input.name, lines: reader.lines,
                conditionLines: reader.conditionLines)
            throw lines.locating(error) ?? error
        }
    }
}
