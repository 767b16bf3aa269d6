import LarderModel
import LarderQuery
import LarderSQL

/// How objects of one entity are read by their keys: a statement, and the columns that it fills,
/// whose memory is reused from read to read.
final class ObjectQuery {
    struct Shape: Hashable {
        var entityName: String
        /// nil is every property, to-many relationships included.
        var properties: [String]?
    }

    let shape: Shape
    let statement: KeyStatement
    var decoder: RowDecoder
    /// Whether the result changes only when the object itself changes, according to the history. It
    /// may change otherwise if it names the entities of other objects: a deleted object, to which
    /// the rule `noAction` leaves references, has no entity any more. So it may if the rules of a
    /// user depend on other objects.
    let dependsOnObjectOnly: Bool
    /// Roughly the memory that it takes, besides the memory of its decoder for values.
    let byteCount: Int

    /// A column of the query, of its decoder and of the shape.
    private static let columnBytes = 512

    init(
        _ shape: Shape, _ layout: Layout, _ converter: ValueConverter, _ rules: RowRules?
    ) throws(LarderError) {
        self.shape = shape
        let typer = try QueryTyper(
            entityName: shape.entityName, conversion: converter.conversion,
            includesSubentities: false)
        let typed = try typer.object(properties: shape.properties)
        let query = try QueryLowering(typed.entity, layout, converter, rules).query(typed)
        var writer = SQLWriter(QueryParameters(arguments: [1]), converter)
        statement = try KeyStatement(writer.statement(query), converter)
        decoder = RowDecoder(query)
        dependsOnObjectOnly =
            !query.namesOtherEntities
            && rules?.dependOnObjectOnly(typed.entity, shape.properties) ?? true
        byteCount = 2 * statement.sql.text.utf8.count + query.columns.count * Self.columnBytes
    }
}
