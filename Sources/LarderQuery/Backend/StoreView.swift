import LarderModel

/// A store as the clients of one schema see it.
///
/// The store itself is the view with its current schema. After a migration that only adds to the
/// schema, clients that were built for a former schema have a view of their own: entities and
/// properties that were added since do not exist in it. A view has no data and no connections; the
/// readers of the store read for all views.
///
/// A user with limited rights has a view too, in which other objects and names do not exist.
///
/// It may be used from any thread.
package protocol StoreView: AnyObject, Sendable {
    /// The store, with the schema of the view.
    var storeDescription: StoreDescription { get }

    /// The names to which the view is limited; nil if it has the current schema.
    var knownNames: KnownNames? { get }

    /// The rights to which the view is limited; nil if it has all objects.
    var rights: Rights? { get }

    /// Resolves a query against the schema. `%K` arguments are read from the parameters; a plan
    /// that depends on them (``QueryPlan/dependsOnArguments``) is valid for these parameters alone.
    /// Only types are read of other arguments (``QueryPlan/serves(_:)``). Any reader of the store
    /// can execute the plan.
    func plan(_ query: Query, _ parameters: QueryParameters) throws(LarderError) -> any QueryPlan

    /// A reader that reads objects by their identifiers as this view has them, over the connection
    /// of a reader of the store. Only one of the two may be used at a time.
    func reader(over reader: any StoreReader) -> any StoreReader
}

/// The view with the current schema uses these.
extension StoreView {
    package var knownNames: KnownNames? { nil }

    package var rights: Rights? { nil }

    package func reader(over reader: any StoreReader) -> any StoreReader { reader }
}
