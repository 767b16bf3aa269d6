/// Rows as columns: one array a column, so that neither wire nor client pays by the value.
public struct Batch: Hashable, Sendable {
    /// The identity of the rows where they are objects of one entity or of those below it; nil for
    /// other rows.
    public struct Identity: Hashable, Sendable {
        public var entityName: String
        public var keys: [Int64]
        public var versions: [Int64]
        /// Which rows are of entities below.
        public var subentities: Subentities

        @inlinable
        public init(
            entityName: String, keys: [Int64] = [], versions: [Int64] = [],
            subentities: Subentities = Subentities()
        ) {
            self.entityName = entityName
            self.keys = keys
            self.versions = versions
            self.subentities = subentities
        }

        /// The name of the own entity of a row's object.
        public func entityName(at row: Int) -> String {
            subentities.entityName(at: row, among: entityName)
        }
    }

    public var rowCount: Int
    /// ``identity``, of an entity without a name where there is none: not an optional, since one
    /// cannot look into an optional without a copy of what is in it.
    public var objects: Identity
    public var columns: [Column]
    /// Where the objects were prefetched: the key path that leads to them from a later row. nil for
    /// the rows that were asked for.
    public var relatedBy: String?

    public init(
        rowCount: Int = 0, identity: Identity? = nil, columns: [Column], relatedBy: String? = nil
    ) {
        self.rowCount = rowCount
        self.objects = identity ?? Identity(entityName: "")
        self.columns = columns
        self.relatedBy = relatedBy
    }

    /// - Parameter objects: Of an entity without a name where rows are no objects.
    @inlinable
    public init(rowCount: Int, objects: Identity, columns: [Column]) {
        self.rowCount = rowCount
        self.objects = objects
        self.columns = columns
    }

    /// Of which objects the rows are; nil where they are of none.
    public var identity: Identity? {
        get { objects.entityName.isEmpty ? nil : objects }
        set { objects = newValue ?? Identity(entityName: "") }
    }
}
