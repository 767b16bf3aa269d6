/// Filling a column row by row: each append adds a row and must be of the column's form; another
/// one is a bug in the caller.
extension Column {
    /// Begins the next column. Memory is kept if nobody else, a column that was made of it, has it.
    public mutating func removeAll(keepingCapacity: Bool) {
        switch form {
        case .integers: integers.removeAll(keepingCapacity: keepingCapacity)
        case .doubles: doubles.removeAll(keepingCapacity: keepingCapacity)
        case .bytes:
            heap.removeAll(keepingCapacity: keepingCapacity)
            ends.removeAll(keepingCapacity: keepingCapacity)
        case .lists:
            integers.removeAll(keepingCapacity: keepingCapacity)
            ends.removeAll(keepingCapacity: keepingCapacity)
        }
        if !nulls.isEmpty { nulls.removeAll(keepingCapacity: keepingCapacity) }
        if !subentities.isEmpty { subentities = Subentities() }
    }

    /// About the bytes that the rows take on the wire.
    public var byteCount: Int {
        (integers.count + doubles.count) * 8 + heap.count + ends.count * 4
            + nulls.count + subentities.indexes.count
    }

    /// A bool (0 or 1), an integer, or the key of an object.
    public mutating func append(integer: Int64) {
        precondition(form == .integers, "not a column of integers")
        integers.append(integer)
    }

    /// A float, a double, or a date in seconds since 2001-01-01T00:00:00Z.
    public mutating func append(double: Double) {
        precondition(form == .doubles, "not a column of doubles")
        doubles.append(double)
    }

    /// A text in UTF-8, data, or the 16 bytes of a UUID. A column's heap stays below 4 GiB.
    @inlinable
    public mutating func append(bytes: some Sequence<UInt8>) {
        heap.append(contentsOf: bytes)
        endRow(form: .bytes, heap.count)
    }

    /// The keys of the objects of a to-many.
    @inlinable
    public mutating func append(keys list: some Sequence<Int64>) {
        integers.append(contentsOf: list)
        endRow(form: .lists, integers.count)
    }

    /// The key of an object that may be of an entity below the kind's.
    public mutating func append(object key: Int64, of entityName: String?) {
        noteEntity(entityName, at: rowCount)
        append(integer: key)
    }

    /// The keys of such objects, and for each the name of its entity.
    public mutating func append(keys list: [Int64], of entityNames: [String]) {
        for (place, name) in entityNames.enumerated() {
            noteEntity(name, at: integers.count + place)
        }
        append(keys: list)
    }

    private mutating func noteEntity(_ name: String?, at place: Int) {
        switch kind {
        case .object(let entityName), .objects(let entityName):
            subentities.append(name, among: entityName, at: place)
        case .attribute: preconditionFailure("not a column of objects")
        }
    }

    public mutating func appendNull() {
        let row = rowCount
        while nulls.count <= row >> 3 { nulls.append(0) }
        nulls[row >> 3] |= 1 << UInt8(row & 7)
        switch form {
        case .integers:
            if case .object = kind { noteEntity(nil, at: row) }
            append(integer: 0)
        case .doubles: append(double: 0)
        case .bytes: endRow(form: .bytes, heap.count)
        case .lists: endRow(form: .lists, integers.count)
        }
    }

    @usableFromInline
    mutating func endRow(form: Column.Form, _ end: Int) {
        precondition(form == self.form, "not a column of \(form)")
        ends.append(UInt32(end))
    }

    /// A value as such; for a column that is filled from values rather than from a database.
    ///
    /// - Throws: `wrongType` if the column does not hold such values.
    public mutating func append(_ value: Value) throws(LarderError) {
        switch (value, kind) {
        case (.null, _): appendNull()
        case (.bool(let value), .attribute(.bool)): append(integer: value ? 1 : 0)
        case (.int(let value), .attribute(.int16)), (.int(let value), .attribute(.int32)),
            (.int(let value), .attribute(.int64)):
            append(integer: value)
        case (.float(let value), .attribute(.float)): append(double: Double(value))
        case (.double(let value), .attribute(.double)): append(double: value)
        case (.date(let value), .attribute(.date)):
            append(double: value.timeIntervalSinceReferenceDate)
        case (.decimal(let value), .attribute(.decimal)): append(bytes: value.description.utf8)
        case (.string(let value), .attribute(.string)), (.json(let value), .attribute(.json)):
            append(bytes: value.utf8)
        case (.url(let value), .attribute(.url)): append(bytes: value.absoluteString.utf8)
        case (.data(let value), .attribute(.data)): append(bytes: value)
        case (.uuid(let value), .attribute(.uuid)): append(bytes: value.bytes)
        case (.object(let value), .object):
            guard let key = value.permanentKey else { throw mismatch }
            append(object: key, of: value.entityName)
        case (.objects(let values), .objects):
            let list = values.compactMap(\.permanentKey)
            guard list.count == values.count else { throw mismatch }
            append(keys: list, of: values.map(\.entityName))
        default: throw mismatch
        }
    }

    private var mismatch: LarderError {
        LarderError(.wrongType, "the column `\(name)` does not hold such a value")
    }
}
