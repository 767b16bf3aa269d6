import ArgumentParser
import LarderModel

struct CountCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "count",
        abstract: "Print the number of objects that match a predicate.",
        discussion: """
            EXAMPLES:
              larder count Article
              larder count Article --where 'category == %@' --arg "$uri"
            """)

    @Argument(help: ArgumentHelp("Entity to count.", valueName: "entity"))
    var entity: EntityName

    @OptionGroup var predicate: PredicateOptions
    @OptionGroup var arguments: ArgumentOptions
    @OptionGroup var dates: DateOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    func run(_ session: StoreSession) throws {
        let count = try session.count(entity.name, predicate, arguments.parameters(dates))
        var writer = output.format.makeWriter()
        try writer.write(number: count, name: "count", output.format)
    }
}

extension StoreSession {
    /// The number of objects that match a predicate.
    func count(
        _ entityName: String, _ predicate: PredicateOptions, _ parameters: QueryParameters
    ) throws -> Int64 {
        try PredicateFailure.attachingFormat(predicate.texts, parameters.arguments) {
            let query = Query.count(
                entityName: entityName, predicate: predicate.predicate,
                includesSubentities: !predicate.excludesSubentities)
            let batches = try client.stream(query, parameters)
            var count: Int64?
            while let batch = try batches.next() {
                guard batch.rowCount == 1, batch.columns.count == 1,
                    case .int(let number) = batch.value(row: 0, column: 0, store: storeIdentifier)
                else { continue }
                count = number
            }
            guard let count else {
                throw LarderError(.malformedMessage, "the reply of the server contains no count")
            }
            return count
        }
    }
}
