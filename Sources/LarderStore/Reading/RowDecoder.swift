import LarderModel
import LarderQuery
import LarderSQL

/// Decodes the rows of a statement into the columns of a batch.
///
/// A batch shares the memory of its columns with the decoder. If the batch has been released when
/// the next one begins, the decoder reuses the memory, and the next batch needs no allocation.
///
/// It is a struct that its owner changes in place: each access to a variable of a class is checked
/// while the program runs, which costs up to a quarter of the decoding of a row.
struct RowDecoder {
    /// How a column is read, and from which column of the statement.
    private enum Reading {
        case integer(from: Int)
        /// A key, and the name of the object's entity.
        case object(from: Int, entityFrom: Int)
        case double(from: Int)
        case bytes(from: Int)
        /// JSON, as its ``JSONKey``.
        case key(from: Int)
        /// By another statement.
        case list
    }

    private let entityName: String?
    /// Whether a row has the name of its entity after its version.
    private let hasEntity: Bool
    private let readings: [Reading]
    /// The index of each list column, and where its keys are.
    let lists: [(column: Int, list: PlanList)]

    private var columns: [Column]
    private var keys: [Int64] = []
    private var versions: [Int64] = []
    private var subentities = Subentities()
    private(set) var rowCount = 0
    /// Whether no text or blob has a byte above 127: such a text is UTF-8.
    private var isASCII = true
    /// The approximate size of the rows on the wire.
    private(set) var byteCount = 0
    /// The size of a row without texts, blobs and lists.
    private let rowBytes: Int

    init(_ query: ResolvedQuery) {
        entityName = query.hasIdentity ? query.entityName : nil
        hasEntity = query.hasEntity
        var readings: [Reading] = []
        var lists: [(column: Int, list: PlanList)] = []
        query.forEachColumn { index, column, source in
            switch source {
            case .value(let source):
                let isKey = query.comparesResults && column.kind == .attribute(.json)
                readings.append(
                    isKey ? .key(from: source) : Self.reading(of: column.kind, from: source))
            case .object(let source, let entitySource):
                readings.append(.object(from: source, entityFrom: entitySource))
            case .list(let list):
                readings.append(.list)
                lists.append((index, list))
            }
        }
        self.readings = readings
        self.lists = lists
        rowBytes = (query.hasIdentity ? 16 : 0) + query.columns.count * 8
        columns = query.columns.map { Column(name: $0.name, kind: $0.kind) }
    }

    private static func reading(of kind: Column.Kind, from source: Int) -> Reading {
        switch kind.form {
        case .integers: .integer(from: source)
        case .doubles: .double(from: source)
        case .bytes: .bytes(from: source)
        case .lists: preconditionFailure("lists have statements of their own")
        }
    }

    /// Appends the statement's row, without its lists.
    ///
    /// SQLite returns 0, or no bytes, for nil. Only then the column's type is read.
    mutating func append(_ statement: Statement) {
        if let entityName {
            if hasEntity {
                subentities.append(statement.string(at: 2), among: entityName, at: keys.count)
            }
            keys.append(statement.int64(at: 0))
            versions.append(statement.int64(at: 1))
        }
        rowCount += 1
        byteCount += rowBytes + Self.append(statement, readings, to: &columns, &isASCII)
    }

    /// The bytes of the texts and blobs in the statement's row.
    func valueBytes(of statement: Statement) -> Int {
        var count = 0
        for reading in readings {
            switch reading {
            case .bytes(let source), .key(let source):
                count += statement.byteCount(at: source)
            case .integer, .double, .object, .list: break
            }
        }
        return count
    }

    /// - Returns: the bytes of texts and blobs.
    private static func append(
        _ statement: Statement, _ readings: [Reading], to columns: inout [Column],
        _ isASCII: inout Bool
    ) -> Int {
        var textBytes = 0
        // By a span, so that the array is checked for other owners once per row and not per value.
        var columns = columns.mutableSpan
        for index in readings.indices {
            switch readings[index] {
            case .integer(let source):
                let integer = statement.int64(at: source)
                if integer == 0, statement.isNull(at: source) {
                    columns[index].appendNull()
                } else {
                    columns[index].append(integer: integer)
                }
            case .double(let source):
                let double = statement.double(at: source)
                if double == 0, statement.isNull(at: source) {
                    columns[index].appendNull()
                } else {
                    columns[index].append(double: double)
                }
            case .bytes(let source):
                textBytes += columns[index].append(bytesOf: statement, at: source, &isASCII)
            case .key(let source):
                textBytes += columns[index].append(keyOf: statement, at: source, &isASCII)
            case .object(let source, let entitySource):
                if statement.isNull(at: source) {
                    columns[index].appendNull()
                } else {
                    let entity =
                        statement.isNull(at: entitySource)
                        ? nil : statement.string(at: entitySource)
                    columns[index].append(object: statement.int64(at: source), of: entity)
                }
            case .list: break
            }
        }
        return textBytes
    }

    /// Appends the list of the next row to a column.
    mutating func append(_ list: ListedKeys, at column: Int) {
        columns[column].append(list)
        byteCount += list.keys.count * 8
    }

    /// The rows since ``begin()``, without the lists that were not appended.
    ///
    /// - Throws: `storageFailed` for a text that is not UTF-8, which only a damaged file has.
    func batch() throws(ReadFailure) -> Batch {
        if !isASCII { try checkTexts() }
        return Batch(
            rowCount: rowCount,
            objects: Batch.Identity(
                entityName: entityName ?? "", keys: keys, versions: versions,
                subentities: subentities),
            columns: columns)
    }

    private func checkTexts() throws(ReadFailure) {
        for index in columns.indices where !columns[index].isUTF8 {
            throw .failed(
                LarderError(
                    .storageFailed,
                    "the store file is damaged (a text of `\(columns[index].name)` is not UTF-8)",
                    hint: "restore it from a backup"))
        }
    }

    /// Begins the next batch.
    mutating func begin() {
        if rowCount > 0 { removeAll(keepingCapacity: true) }
    }

    /// Begins the next batch. Memory is reused if the last batch, which shares it, was released.
    mutating func removeAll(keepingCapacity: Bool) {
        keys.removeAll(keepingCapacity: keepingCapacity)
        versions.removeAll(keepingCapacity: keepingCapacity)
        if !subentities.isEmpty { subentities = Subentities() }
        for index in columns.indices {
            columns[index].removeAll(keepingCapacity: keepingCapacity)
        }
        rowCount = 0
        isASCII = true
        byteCount = 0
    }
}

extension Column {
    /// Appends the JSON text of a key of the statement's row.
    ///
    /// - Returns: the number of its bytes.
    fileprivate mutating func append(
        keyOf statement: Statement, at source: Int, _ isASCII: inout Bool
    ) -> Int {
        if statement.isNull(at: source) {
            appendNull()
            return 0
        }
        let key = JSONKey(bytes: statement.withBytes(at: source) { [UInt8]($0) })
        let text = key.text.utf8
        if text.contains(where: { $0 >= 0x80 }) { isASCII = false }
        append(bytes: text)
        return text.count
    }

    /// Appends a text or blob of the statement's row.
    ///
    /// - Parameter isASCII: Becomes false if one of its bytes is above 127.
    /// - Returns: the number of its bytes.
    fileprivate mutating func append(
        bytesOf statement: Statement, at source: Int, _ isASCII: inout Bool
    ) -> Int {
        statement.withBytes(at: source) { bytes in
            var bits: UInt8 = 0
            for byte in bytes { bits |= byte }
            if bits >= 0x80 { isASCII = false }
            if bytes.isEmpty, statement.isNull(at: source) {
                appendNull()
            } else {
                append(bytes: bytes)
            }
            return bytes.count
        }
    }
}

/// The keys of one list, with the names of their entities if these differ.
struct ListedKeys {
    private(set) var keys: [Int64] = []
    private(set) var entityNames: [String] = []

    /// - Parameter index: The column of the key. The entity's name is in the next one.
    mutating func append(_ statement: Statement, at index: Int, of list: PlanList) {
        keys.append(statement.int64(at: index))
        guard list.entityTable != nil else { return }
        entityNames.append(
            statement.isNull(at: index + 1) ? list.entityName : statement.string(at: index + 1))
    }

    mutating func removeAll() {
        keys.removeAll(keepingCapacity: true)
        entityNames.removeAll(keepingCapacity: true)
    }
}

extension Column {
    mutating func append(_ list: ListedKeys) {
        if list.entityNames.isEmpty {
            append(keys: list.keys)
        } else {
            append(keys: list.keys, of: list.entityNames)
        }
    }
}
