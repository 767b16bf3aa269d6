/// What tells whether an object has changed: another one after each change of it.
///
/// Objects with different keys may share a mark, and then change together.
public struct ObjectMark: Hashable, Sendable {
    public let place: Int
    public let number: UInt64

    public init(place: Int, number: UInt64) {
        self.place = place
        self.number = number
    }
}

public protocol StoreReader: AnyObject {
    /// The objects that exist among those named, as one batch an entity, rows in the order asked.
    /// `properties` nil is every attribute and relationship, to-many ones included.
    ///
    /// Another store's identifier, a temporary one, an unknown entity or property is an error.
    func objects(
        _ identifiers: [PersistentIdentifier], properties: [String]?, budget: ReadBudget
    ) throws(ReadFailure) -> [Batch]

    /// The object's mark, to be taken before it is read with these properties: what is read then,
    /// if it is there, is true as long as the mark is current. nil while it is being changed, or if
    /// more than changes of the object may change these properties.
    func mark(of object: PersistentIdentifier, properties: [String]?) -> ObjectMark?

    /// Opens a cursor over the answer. It keeps its snapshot until it is closed; one cursor at a
    /// time.
    func open(
        _ plan: any QueryPlan, _ parameters: QueryParameters, budget: ReadBudget
    ) throws(ReadFailure) -> any ResultCursor

    func explain(
        _ plan: any QueryPlan, _ parameters: QueryParameters
    ) throws(LarderError) -> Explanation

    /// Looks at every object and every link for what must hold of them, in one snapshot.
    func check(budget: ReadBudget) throws(ReadFailure) -> CheckReport

    /// Figures about the store, for `stats`: name and value, in the order to show them.
    func statistics() throws(LarderError) -> [Statistic]
}

/// An answer that is read batch by batch.
public protocol ResultCursor: AnyObject {
    /// The next rows, up to about this many bytes and at least one row; `isLast` once none follow.
    /// The first batch is given even if it holds no row, so that the columns are known.
    func next(bytesMax: Int, budget: ReadBudget) throws(ReadFailure) -> (batch: Batch, isLast: Bool)

    /// Ends the snapshot. Called once, also after an error.
    func close()
}
