import LarderModel

/// How objects of one entity are read by their keys: a statement, and the columns that it fills,
/// whose memory is reused from read to read.
final class ObjectQuery {
    struct Shape: Hashable {
        var entityName: String
        /// nil is every property, to-many relationships included.
        var properties: [String]?
    }

    let shape: Shape
    let sql: SQL
    var decoder: RowDecoder
    /// Whether the result changes only when the object itself changes, according to the history. It
    /// may change otherwise if it names the entities of other objects: a deleted object, to which
    /// the rule `noAction` leaves references, has no entity any more.
    let dependsOnObjectOnly: Bool

    init(
        _ shape: Shape, _ layout: Layout, _ converter: ValueConverter
    ) throws(LarderError) {
        self.shape = shape
        let resolver = try QueryResolver(
            entityName: shape.entityName, layout: layout, converter: converter,
            includesSubentities: false)
        let query = try resolver.object(properties: shape.properties)
        var writer = SQLWriter(QueryParameters(arguments: [1]), converter)
        sql = try writer.statement(query)
        decoder = RowDecoder(query)
        dependsOnObjectOnly = !query.namesOtherEntities
    }
}
