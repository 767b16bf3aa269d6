import LarderModel
import LarderQuery
import LarderSQL

extension Store {
    package func plan(
        _ query: Query, _ parameters: QueryParameters
    ) throws(LarderError) -> any QueryPlan {
        try QueryPlanner(layout: layout, converter: valueConverter).plan(query, parameters)
    }

    package func makeReader() throws(LarderError) -> any StoreReader { try Reader(self) }

    var valueConverter: ValueConverter {
        ValueConverter(
            storeIdentifier: storeDescription.identifier, schema: storeDescription.schema,
            clock: options.clock, formerNames: layout.formerNames)
    }
}
