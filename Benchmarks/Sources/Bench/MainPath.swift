import FoundationEssentials
import LarderClient
import LarderModel

/// The most frequent operations, repeated while their cost is counted.
enum MainPath: String, CaseIterable {
    case read, again, fetch, records, group, insert, changes, rows

    /// The number of students in the store.
    static let students = 1_000

    /// The name of the operation that is counted.
    var unit: String {
        switch self {
        case .read: "read by identifier"
        case .again: "read by identifier, the same object again"
        case .fetch: "row of a fetch, as columns"
        case .records: "row of a fetch, as records"
        case .group: "row of a grouped count"
        case .insert: "insert"
        case .changes: "insert or update in a set of 1000"
        case .rows: "row of an insert stream"
        }
    }

    /// The number of counted operations in one pass.
    var unitsInPass: Int {
        switch self {
        case .read, .again, .insert: 1
        case .fetch, .records, .group, .changes, .rows: Self.students
        }
    }

    /// The number of passes to count: enough that rare work has little weight.
    var passes: Int {
        switch self {
        // Each object is read once, also when the passes are counted three times.
        case .read: Self.students / 3
        case .again: 500
        case .fetch, .records, .group: 20
        case .insert: 100
        case .changes: 3
        case .rows: 10
        }
    }

    /// The objects that the passes read and change.
    static func students(_ client: StoreClient) throws -> [PersistentIdentifier] {
        try client.fetch("Student", limit: Int64(students)).map(\.identifier)
    }

    /// Performs this number of passes, which are numbered from `first`.
    func run(
        _ client: StoreClient, _ students: [PersistentIdentifier], passes: Int, from first: Int = 0
    ) throws {
        for number in first..<first + passes { try pass(client, students, number) }
    }

    private func pass(
        _ client: StoreClient, _ students: [PersistentIdentifier], _ number: Int
    ) throws {
        switch self {
        case .read, .again:
            let index = self == .read ? ReadLatency.index(number, of: students.count) : 0
            let student = students[index]
            let records = try client.objects(
                for: [student], properties: School.studentProperties)
            try Self.expect(records.count, 1)
        case .fetch:
            let stream = try client.stream(.fetch(Fetching.values))
            var rows = 0
            while let batch = try stream.next() { rows += batch.rowCount }
            try Self.expect(rows, students.count)
        case .records:
            try Self.expect(try client.fetch("Student").count, students.count)
        case .group:
            // Another limit each time, so that no cached result can be the answer.
            let rows = try client.aggregate(
                "Student", groupBy: ["birthOfYear"], [.count], limit: Int64(number + 60))
            try Self.expect(rows.count, 60)
        case .insert: _ = try client.insert("Student", School.student(number + 1))
        case .changes: _ = try client.save(Self.changes(of: students))
        case .rows:
            let inserted = try client.insertAll(
                Insertion("Student"), properties: School.studentProperties,
                rows: (1...Self.students).lazy.map(School.row))
            try Self.expect(Int(inserted.rowCount), Self.students)
        }
    }

    /// Inserts and updates alternately.
    private static func changes(of students: [PersistentIdentifier]) -> ChangeSet {
        ChangeSet(
            (0..<Self.students).map { number in
                number % 2 == 0
                    ? .insert(
                        PersistentIdentifier(temporary: "t:\(number)", entityName: "Student"),
                        values: School.student(number + 1))
                    : .update(students[number], ifVersion: nil, values: ["birthOfYear": 2_000])
            })
    }

    private static func expect(_ found: Int, _ wanted: Int) throws {
        guard found == wanted else { throw Problem("\(found) rows instead of \(wanted)") }
    }
}
