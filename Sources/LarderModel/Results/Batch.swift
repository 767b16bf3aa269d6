/// Rows in columnar form: one array per column, so that no work is done per value on the wire.
public struct Batch: Hashable, Sendable {
    /// The identity of rows that are objects of one entity or its subentities.
    public struct Identity: Hashable, Sendable {
        public var entityName: String
        public var keys: [Int64]
        public var versions: [Int64]
        /// The rows whose objects are of subentities.
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

        /// The name of the actual entity of a row's object.
        public func entityName(at row: Int) -> String {
            subentities.entityName(at: row, among: entityName)
        }
    }

    public var rowCount: Int
    /// The storage of ``identity``, with an empty entity name if rows are not objects. It is not an
    /// optional, because reading through an optional copies the arrays.
    public var objects: Identity
    public var columns: [Column]
    /// The key path along which the objects were prefetched from rows that follow; nil for the rows
    /// of the query itself.
    public var prefetchPath: String?

    public init(
        rowCount: Int = 0, identity: Identity? = nil, columns: [Column], prefetchPath: String? = nil
    ) {
        self.rowCount = rowCount
        self.objects = identity ?? Identity(entityName: "")
        self.columns = columns
        self.prefetchPath = prefetchPath
    }

    /// - Parameter objects: The identity; with an empty entity name if rows are not objects.
    @inlinable
    public init(rowCount: Int, objects: Identity, columns: [Column]) {
        self.rowCount = rowCount
        self.objects = objects
        self.columns = columns
    }

    /// The identity of the rows; nil if they are not objects.
    public var identity: Identity? {
        get { objects.entityName.isEmpty ? nil : objects }
        set { objects = newValue ?? Identity(entityName: "") }
    }
}
