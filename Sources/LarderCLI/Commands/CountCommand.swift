import ArgumentParser
import LarderModel

struct CountCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "count",
        abstract: "Prints how many objects satisfy a predicate.",
        discussion: """
            EXAMPLES:
              larder count Article
              larder count Article --where 'category == %@' --arg "$uri"
            """)

    @Argument(help: ArgumentHelp("What to count objects of.", valueName: "entity"))
    var entity: EntityName

    @OptionGroup var predicate: PredicateOptions
    @OptionGroup var options: GlobalOptions

    func run(_ store: OpenStore) throws {
        let count = try PredicateFailure.joining(predicate.texts) {
            let query = Query.count(
                entityName: entity.name, predicate: predicate.predicate,
                includesSubentities: !predicate.excludesSubentities)
            let batches = try store.client.stream(query, predicate.parameters())
            var count: Int64?
            while let batch = try batches.next() {
                guard batch.rowCount == 1, batch.columns.count == 1,
                    case .int(let number) = batch.value(row: 0, column: 0, store: store.identifier)
                else { continue }
                count = number
            }
            guard let count else {
                throw LarderError(.malformedMessage, "the server's answer holds no count")
            }
            return count
        }
        var writer = options.format.makeWriter()
        try writer.write(number: count, name: "count", options.format)
    }
}
