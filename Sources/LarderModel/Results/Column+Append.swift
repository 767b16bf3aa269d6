/// Filling a column row by row. Each method appends one row and requires a column of the matching
/// form; a mismatch is a bug in the caller.
extension Column {
    /// Removes all rows. The memory is reused unless a copy of the column shares it.
    package mutating func removeAll(keepingCapacity: Bool) {
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

    /// The approximate size of the rows on the wire, in bytes.
    package var byteCount: Int {
        (integers.count + doubles.count) * 8 + heap.count + ends.count * 4
            + nulls.count + subentities.indexes.count
    }

    /// Appends a bool (0 or 1), an integer, or the key of an object.
    package mutating func append(integer: Int64) {
        precondition(form == .integers, "not a column of integers")
        integers.append(integer)
    }

    /// Appends a float, a double, or a date in seconds since 2001-01-01T00:00:00Z.
    package mutating func append(double: Double) {
        precondition(form == .doubles, "not a column of doubles")
        doubles.append(double)
    }

    /// Appends text in UTF-8, data, or the 16 bytes of a UUID. The heap must stay below 4 GiB.
    @inlinable
    package mutating func append(bytes: some Sequence<UInt8>) {
        heap.append(contentsOf: bytes)
        endRow(form: .bytes, heap.count)
    }

    /// Appends the keys of a list of objects.
    @inlinable
    package mutating func append(keys list: some Sequence<Int64>) {
        integers.append(contentsOf: list)
        endRow(form: .lists, integers.count)
    }

    /// Appends the key of an object that may be of a subentity of the column's entity.
    package mutating func append(object key: Int64, of entityName: String?) {
        appendEntity(entityName, at: rowCount)
        append(integer: key)
    }

    /// Appends a list of keys with the entity name of each object.
    package mutating func append(keys list: [Int64], of entityNames: [String]) {
        for (index, name) in entityNames.enumerated() {
            appendEntity(name, at: integers.count + index)
        }
        append(keys: list)
    }

    private mutating func appendEntity(_ name: String?, at index: Int) {
        switch kind {
        case .object(let entityName), .objects(let entityName):
            subentities.append(name, among: entityName, at: index)
        case .attribute: preconditionFailure("not a column of objects")
        }
    }

    package mutating func appendNull() {
        let row = rowCount
        while nulls.count <= row >> 3 { nulls.append(0) }
        nulls[row >> 3] |= 1 << UInt8(row & 7)
        switch form {
        case .integers:
            if case .object = kind { appendEntity(nil, at: row) }
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

    /// Appends a value. Use this for columns that are not filled from a database.
    ///
    /// - Throws: `wrongType` if the column does not hold values of this type.
    package mutating func append(_ value: Value) throws(LarderError) {
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
        LarderError(.wrongType, "the column `\(name)` does not hold values of this type")
    }
}
