import LarderModel

/// How objects of one entity are read by their keys: one statement, compiled once, and the columns
/// that it fills, whose memory it keeps from read to read.
final class ObjectStatement {
    struct Shape: Hashable {
        var entityName: String
        /// nil is every property, to-many relationships included.
        var properties: [String]?
    }

    let shape: Shape
    let decoder: RowDecoder
    /// Whether what it reads changes with nothing but the object, as the history has it. A deleted
    /// object whose key stays in others, by the rule `noAction`, has no entity any more.
    let isOfObjectAlone: Bool
    private let statement: Statement

    init(
        _ shape: Shape, _ session: ReadSession, _ converter: ValueConverter
    ) throws(ReadFailure) {
        self.shape = shape
        let text: String
        do throws(LarderError) {
            let resolver = try QueryResolver(
                entityName: shape.entityName, layout: session.layout, converter: converter,
                includesSubentities: false)
            let query = try resolver.object(properties: shape.properties)
            var writer = SQLWriter(QueryParameters(arguments: [1]), converter)
            text = try writer.statement(query).text
            decoder = RowDecoder(query)
            isOfObjectAlone = !query.namesOtherEntities
        } catch {
            throw .failed(error)
        }
        statement = try session.ownStatement(text, persistent: true)
    }

    /// Takes the row of an object, without its lists; false where there is none.
    func read(_ key: Int64, _ session: ReadSession) throws(ReadFailure) -> Bool {
        defer { statement.reset() }
        try session.bind(key: key, to: statement)
        guard try session.step(statement) else { return false }
        decoder.append(statement)
        return true
    }
}
