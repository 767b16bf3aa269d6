/// One column of a batch: a name, a type, and a value or nil for each row.
///
/// It is filled row by row, without an allocation a value; see `Column+Append.swift`.
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

    /// The shape in which a kind of column is stored; the cases are those of ``Storage``.
    public enum Form: Sendable {
        case integers, doubles, bytes, lists
    }

    public var name: String
    public let kind: Kind
    @usableFromInline let form: Form
    // The arrays of which `storage` is made. A column uses those of its kind.
    /// Integers, or the keys of objects or lists.
    public var integers: [Int64] = []
    public var doubles: [Double] = []
    public var heap: [UInt8] = []
    public var ends: [UInt32] = []
    /// Bit n%8 of byte n/8 is set where row n is nil; empty where no row is.
    public var nulls: [UInt8] = []
    /// Which objects are of entities below the one that the kind names: by row, or by the keys of
    /// all lists one after the other.
    public var subentities = Subentities()

    /// A column without rows.
    public init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
        form = kind.form
    }

    public init(
        name: String, kind: Kind, storage: Storage, nulls: [UInt8] = [],
        subentities: Subentities = Subentities()
    ) {
        self.init(name: name, kind: kind)
        self.nulls = nulls
        self.subentities = subentities
        switch storage {
        case .integers(let values): integers = values
        case .doubles(let values): doubles = values
        case .bytes(let heap, let ends): (self.heap, self.ends) = (heap, ends)
        case .lists(let keys, let ends): (integers, self.ends) = (keys, ends)
        }
    }

    /// How many values and nils it has.
    public var rowCount: Int {
        switch form {
        case .integers: integers.count
        case .doubles: doubles.count
        case .bytes, .lists: ends.count
        }
    }

    public var storage: Storage {
        switch form {
        case .integers: .integers(integers)
        case .doubles: .doubles(doubles)
        case .bytes: .bytes(heap: heap, ends: ends)
        case .lists: .lists(keys: integers, ends: ends)
        }
    }

    public func isNull(at row: Int) -> Bool {
        row >> 3 < nulls.count && nulls[row >> 3] & (1 << UInt8(row & 7)) != 0
    }
}

extension Column.Kind {
    public var form: Column.Form {
        switch self {
        case .attribute(.bool), .attribute(.int16), .attribute(.int32), .attribute(.int64),
            .object:
            .integers
        case .attribute(.float), .attribute(.double), .attribute(.date): .doubles
        case .attribute(.decimal), .attribute(.string), .attribute(.uuid), .attribute(.url),
            .attribute(.data), .attribute(.json):
            .bytes
        case .objects: .lists
        }
    }
}
