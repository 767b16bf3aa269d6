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
    public var identity: Identity?
    public var columns: [Column]
    /// Where the objects were prefetched: the key path that leads to them from a later row. nil for
    /// the rows that were asked for.
    public var relatedBy: String?

    public init(
        rowCount: Int = 0, identity: Identity? = nil, columns: [Column], relatedBy: String? = nil
    ) {
        self.rowCount = rowCount
        self.identity = identity
        self.columns = columns
        self.relatedBy = relatedBy
    }
}

/// One column of a batch: a name, a type, and a value or nil for each row.
public struct Column: Hashable, Sendable {
    /// What a column holds; the raw value is the wire's.
    public enum Kind: Hashable, Sendable {
        case attribute(AttributeType)
        /// Keys of objects of this entity, or of those below it.
        case object(entityName: String)
        /// Lists of keys of such objects.
        case objects(entityName: String)
    }

    /// The values in row order. A row that is nil holds 0, or nothing in the heap.
    public enum Storage: Hashable, Sendable {
        /// bool (0, 1), the integer types, and keys of objects.
        case integers([Int64])
        /// float, double, and date (seconds since 2001-01-01T00:00:00Z).
        case doubles([Double])
        /// string, url, json, decimal (as decimal text) in UTF-8; data; uuid (16 bytes). Row n ends
        /// before byte `ends[n]` and begins where row n-1 ends.
        case bytes(heap: [UInt8], ends: [UInt32])
        /// Lists of keys: row n is `keys` from where row n-1 ends up to `ends[n]`.
        case lists(keys: [Int64], ends: [UInt32])
    }

    public var name: String
    public var kind: Kind
    public var storage: Storage
    /// Bit n%8 of byte n/8 is set where row n is nil; empty where no row is.
    public var nulls: [UInt8]
    /// Which objects are of entities below the one that the kind names: by row, or by the keys of
    /// all lists one after the other.
    public var subentities: Subentities

    public init(
        name: String, kind: Kind, storage: Storage, nulls: [UInt8] = [],
        subentities: Subentities = Subentities()
    ) {
        self.name = name
        self.kind = kind
        self.storage = storage
        self.nulls = nulls
        self.subentities = subentities
    }

    public func isNull(at row: Int) -> Bool {
        row >> 3 < nulls.count && nulls[row >> 3] & (1 << UInt8(row & 7)) != 0
    }
}
