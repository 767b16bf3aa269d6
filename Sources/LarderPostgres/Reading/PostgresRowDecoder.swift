import FoundationEssentials
import LarderModel
import LarderQuery
import LarderSQL

/// Decodes rows of typed values into the columns of a batch.
struct PostgresRowDecoder {
    /// How a column is read, and from which value of a row.
    private enum Reading {
        case value(from: Int)
        /// A key, and the name of the object's entity.
        case object(from: Int, entityFrom: Int)
        /// By another statement.
        case list
    }

    private let entityName: String?
    private let hasEntity: Bool
    private let readings: [Reading]
    /// The index of each list column, and where its keys are.
    let lists: [(column: Int, list: PlanList)]

    private var columns: [Column]
    private var keys: [Int64] = []
    private var versions: [Int64] = []
    private var subentities = Subentities()
    private(set) var rowCount = 0
    /// About the size of the rows on the wire.
    private(set) var byteCount = 0

    init(_ query: ResolvedQuery) {
        entityName = query.hasIdentity ? query.entityName : nil
        hasEntity = query.hasEntity
        var readings: [Reading] = []
        var lists: [(column: Int, list: PlanList)] = []
        query.forEachColumn { index, _, source in
            switch source {
            case .value(let source): readings.append(.value(from: source))
            case .object(let source, let entitySource):
                readings.append(.object(from: source, entityFrom: entitySource))
            case .list(let list):
                readings.append(.list)
                lists.append((index, list))
            }
        }
        self.readings = readings
        self.lists = lists
        columns = query.columns.map { Column(name: $0.name, kind: $0.kind) }
    }

    /// Appends a row without its lists.
    ///
    /// - Throws: `unexpectedReply` for a value of another type, and `outOfRange` for a decimal of
    ///   too many digits.
    mutating func append(_ row: [PostgresValue]) throws(PostgresError) {
        if let entityName {
            if hasEntity {
                subentities.append(try Self.text(row, 2), among: entityName, at: keys.count)
            }
            keys.append(try Self.integer(row, 0))
            versions.append(try Self.integer(row, 1))
            byteCount += 16
        }
        rowCount += 1
        for index in readings.indices {
            switch readings[index] {
            case .value(let source):
                byteCount += try Self.append(try Self.value(row, source), to: &columns[index])
            case .object(let source, let entitySource):
                byteCount += 8
                if try Self.value(row, source).isNull {
                    columns[index].appendNull()
                } else {
                    let isKnown = try !Self.value(row, entitySource).isNull
                    columns[index].append(
                        object: try Self.integer(row, source),
                        of: isKnown ? try Self.text(row, entitySource) : nil)
                }
            case .list: break
            }
        }
    }

    /// Appends the list of the last row to a column.
    mutating func append(_ list: PostgresList, at column: Int) {
        if list.entityNames.isEmpty {
            columns[column].append(keys: list.keys)
        } else {
            columns[column].append(keys: list.keys, of: list.entityNames)
        }
        byteCount += list.keys.count * 8
    }

    /// The rows since the last batch.
    mutating func takeBatch() -> Batch {
        let batch = Batch(
            rowCount: rowCount,
            objects: Batch.Identity(
                entityName: entityName ?? "", keys: keys, versions: versions,
                subentities: subentities),
            columns: columns)
        keys = []
        versions = []
        subentities = Subentities()
        for index in columns.indices { columns[index].removeAll(keepingCapacity: false) }
        rowCount = 0
        byteCount = 0
        return batch
    }

    // MARK: Values

    private static func value(
        _ row: [PostgresValue], _ index: Int
    ) throws(PostgresError) -> PostgresValue {
        guard index < row.count else {
            throw PostgresError(.unexpectedReply, "a row has too few values")
        }
        return row[index]
    }

    static func integer(_ row: [PostgresValue], _ index: Int) throws(PostgresError) -> Int64 {
        guard case .integer(let integer) = try value(row, index) else { throw unexpected }
        return integer
    }

    static func text(_ row: [PostgresValue], _ index: Int) throws(PostgresError) -> String {
        guard case .text(let text) = try value(row, index) else { throw unexpected }
        return text
    }

    private static let unexpected = PostgresError(
        .unexpectedReply, "a row has a value of another type than its column")

    /// - Returns: about its bytes on the wire.
    private static func append(
        _ value: PostgresValue, to column: inout Column
    ) throws(PostgresError) -> Int {
        switch (value, column.kind.form) {
        case (.null, _): column.appendNull()
        case (.integer(let integer), .integers): column.append(integer: integer)
        case (.bool(let bool), .integers): column.append(integer: bool ? 1 : 0)
        case (.double(let double), .doubles): column.append(double: double)
        case (.real(let float), .doubles): column.append(double: Double(float))
        // Constants of statements, such as the sum of no values.
        case (.integer(let integer), .doubles): column.append(double: Double(integer))
        case (.numeric(let text), .doubles):
            guard let double = Double(text) else { throw unexpected }
            column.append(double: double)
        case (.integer(let integer), .bytes): column.append(bytes: String(integer).utf8)
        case (.numeric(let text), .bytes):
            guard Decimal(exactly: text) != nil else { throw tooManyDigits }
            column.append(bytes: text.utf8)
            return text.utf8.count
        case (.text(let text), .bytes), (.json(let text), .bytes):
            column.append(bytes: text.utf8)
            return text.utf8.count
        case (.bytes(let bytes), .bytes), (.uuid(let bytes), .bytes):
            column.append(bytes: bytes)
            return bytes.count
        default: throw unexpected
        }
        return 8
    }

    private static let tooManyDigits = PostgresError(
        .outOfRange, "a sum has more digits than a decimal can hold")
}

/// The keys of one list, with the names of their entities if these differ.
struct PostgresList {
    private(set) var keys: [Int64] = []
    private(set) var entityNames: [String] = []

    /// - Parameter row: The index of the object, the key, and perhaps the entity.
    mutating func append(
        _ row: [PostgresValue], of list: PlanList
    ) throws(PostgresError) {
        keys.append(try PostgresRowDecoder.integer(row, 1))
        guard list.entityTable != nil else { return }
        let isKnown = row.count > 2 && !row[2].isNull
        entityNames.append(isKnown ? try PostgresRowDecoder.text(row, 2) : list.entityName)
    }
}
