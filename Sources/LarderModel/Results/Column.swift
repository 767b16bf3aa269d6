/// One column of a batch: a name, a type, and a value or nil for each row.
///
/// `Column+Append.swift` fills it row by row, without an allocation per value.
public struct Column: Hashable, Sendable {
    /// The type of the values; the raw value is that of the wire.
    public enum Kind: Hashable, Sendable {
        case attribute(AttributeType)
        /// Keys of objects of this entity or its subentities.
        case object(entityName: String)
        /// Lists of keys of such objects.
        case objects(entityName: String)
    }

    /// The values in row order. A nil row holds 0, or no bytes or keys.
    public enum Storage: Hashable, Sendable {
        /// bool (0, 1), the integer types, and keys of objects.
        case integers([Int64])
        /// float, double, and date (seconds since 2001-01-01T00:00:00Z).
        case doubles([Double])
        /// string, url, json, decimal (as decimal text) in UTF-8; data; uuid (16 bytes). Row n
        /// begins at offset `ends[n - 1]`, or 0, and ends before offset `ends[n]`.
        case bytes(heap: [UInt8], ends: [UInt32])
        /// Lists of keys. Row n is the range of `keys` from `ends[n - 1]`, or 0, to before
        /// `ends[n]`.
        case lists(keys: [Int64], ends: [UInt32])
    }

    /// The form in which a kind of column is stored; the cases correspond to those of ``Storage``.
    public enum Form: Sendable {
        case integers, doubles, bytes, lists
    }

    public var name: String
    public let kind: Kind
    @usableFromInline let form: Form
    // The arrays that make up `storage`. A column uses those of its form.
    /// Integers, keys of objects, or keys of the elements of lists.
    public var integers: [Int64] = []
    public var doubles: [Double] = []
    public var heap: [UInt8] = []
    public var ends: [UInt32] = []
    /// Bit n%8 of byte n/8 is set if row n is nil; empty if no row is nil.
    public var nulls: [UInt8] = []
    /// The objects that are of subentities of the kind's entity, by row or, for lists, by element
    /// across all lists.
    public var subentities = Subentities()

    /// Creates a column without rows.
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

    /// The number of rows, including nil rows.
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
