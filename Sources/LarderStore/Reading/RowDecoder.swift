import LarderModel

/// Fills the columns of a batch from the rows of a statement, without a value in between.
///
/// A batch shares the memory of the columns with the decoder until the next one begins, which takes
/// it again if the batch is gone by then: an answer that was sent costs the next one no allocation.
final class RowDecoder {
    /// How a column is read; decided once, not for each row.
    private enum Reading {
        case integer(at: Int)
        /// A key, and the name of the object's entity.
        case object(at: Int, entityAt: Int)
        case double(at: Int)
        case bytes(at: Int)
        /// By a statement of its own.
        case list
    }

    private let entityName: String?
    /// Whether a row has the name of its entity behind its version.
    private let hasEntity: Bool
    private let readings: [Reading]
    /// For each list column its place among the columns, and where its keys are.
    let lists: [(column: Int, list: PlanList)]

    private var columns: [Column]
    private var keys: [Int64] = []
    private var versions: [Int64] = []
    private var subentities = Subentities()
    private(set) var rowCount = 0
    /// About what the rows take on the wire, in bytes.
    private(set) var byteCount = 0
    /// What of it each row takes in any case.
    private let rowBytes: Int

    init(_ query: ResolvedQuery) {
        entityName = query.hasIdentity ? query.entityName : nil
        hasEntity = query.hasEntity
        var place = (query.hasIdentity ? 2 : 0) + (query.hasEntity ? 1 : 0)
        // Names of entities stand behind all columns.
        var entityPlace = place + query.columns.count { !$0.isList }
        var readings: [Reading] = []
        var lists: [(column: Int, list: PlanList)] = []
        for (index, column) in query.columns.enumerated() {
            switch column.content {
            case .operand:
                if column.entityTable != nil {
                    readings.append(.object(at: place, entityAt: entityPlace))
                    entityPlace += 1
                } else {
                    readings.append(Self.reading(of: column.kind, at: place))
                }
                place += 1
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

    private static func reading(of kind: Column.Kind, at place: Int) -> Reading {
        switch kind.form {
        case .integers: .integer(at: place)
        case .doubles: .double(at: place)
        case .bytes: .bytes(at: place)
        case .lists: preconditionFailure("lists have statements of their own")
        }
    }

    /// Appends the statement's row, apart from its lists.
    ///
    /// SQLite gives 0, or no bytes, for nil: only then it is asked what it was.
    func append(_ statement: Statement) {
        if let entityName {
            if hasEntity {
                subentities.append(statement.string(at: 2), among: entityName, at: keys.count)
            }
            keys.append(statement.int64(at: 0))
            versions.append(statement.int64(at: 1))
        }
        for index in readings.indices {
            switch readings[index] {
            case .integer(let place):
                let integer = statement.int64(at: place)
                if integer == 0, statement.isNull(at: place) {
                    columns[index].appendNull()
                } else {
                    columns[index].append(integer: integer)
                }
            case .object(let place, let entityPlace):
                if statement.isNull(at: place) {
                    columns[index].appendNull()
                } else {
                    let entity =
                        statement.isNull(at: entityPlace) ? nil : statement.string(at: entityPlace)
                    columns[index].append(object: statement.int64(at: place), of: entity)
                }
            case .double(let place):
                let double = statement.double(at: place)
                if double == 0, statement.isNull(at: place) {
                    columns[index].appendNull()
                } else {
                    columns[index].append(double: double)
                }
            case .bytes(let place):
                statement.withBytes(at: place) { bytes in
                    if bytes.isEmpty, statement.isNull(at: place) {
                        columns[index].appendNull()
                    } else {
                        columns[index].append(bytes: bytes)
                        byteCount += bytes.count
                    }
                }
            case .list: break
            }
        }
        rowCount += 1
        byteCount += rowBytes
    }

    /// Appends the next row's list in a column.
    func append(_ list: ListedKeys, at column: Int) {
        columns[column].append(list)
        byteCount += list.keys.count * 8
    }

    /// The rows since ``begin()``, without the lists that were not appended.
    var batch: Batch {
        Batch(
            rowCount: rowCount,
            objects: Batch.Identity(
                entityName: entityName ?? "", keys: keys, versions: versions,
                subentities: subentities),
            columns: columns)
    }

    /// Begins the next batch.
    func begin() {
        if rowCount > 0 { removeAll(keepingCapacity: true) }
    }

    /// Begins the next batch. Memory is kept if the last one, which shares it, is gone.
    func removeAll(keepingCapacity: Bool) {
        keys.removeAll(keepingCapacity: keepingCapacity)
        versions.removeAll(keepingCapacity: keepingCapacity)
        if !subentities.isEmpty { subentities = Subentities() }
        for index in columns.indices {
            columns[index].removeAll(keepingCapacity: keepingCapacity)
        }
        rowCount = 0
        byteCount = 0
    }
}

/// The keys of one list, with the names of their entities where these are several.
struct ListedKeys {
    private(set) var keys: [Int64] = []
    private(set) var entityNames: [String] = []

    /// - Parameter place: the column of the key; that of the entity's name follows.
    mutating func append(_ statement: Statement, at place: Int, of list: PlanList) {
        keys.append(statement.int64(at: place))
        guard list.entityTable != nil else { return }
        entityNames.append(
            statement.isNull(at: place + 1) ? list.entityName : statement.string(at: place + 1))
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
