import LarderModel

/// How objects of one entity are read by their keys: one statement, prepared once.
struct ObjectStatement {
    struct Shape: Hashable {
        var entityName: String
        /// nil is every property, to-many relationships included.
        var properties: [String]?
    }

    /// Its only parameter is the key.
    let text: String
    /// Empty; each use fills a copy.
    let decoder: RowDecoder

    init(_ shape: Shape, layout: Layout, converter: ValueConverter) throws(LarderError) {
        let resolver = try QueryResolver(
            entityName: shape.entityName, layout: layout, converter: converter,
            includesSubentities: false)
        let query = try resolver.object(properties: shape.properties)
        let parameters = QueryParameters(arguments: [1])
        var writer = SQLWriter(parameters, converter)
        text = try writer.statement(query).text
        decoder = RowDecoder(query)
    }
}
