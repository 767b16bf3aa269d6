import LarderModel
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("the history recorder")
struct HistoryRecorderTests {
    private let library: Library

    init() throws { library = try Library(schema: Faculty.schema()) }

    @Test("the history recorder records the attributes whose values differ")
    func differences() throws {
        let student = try library.object(
            try library.insert("Student", ["name": "Ann", "email": "a"]))
        try library.withContext { context in
            let recorder = HistoryRecorder(context: context, transaction: 5)
            let entity = context.schema.entities[student.entity]
            let attributes = ["name", "email"].compactMap { name in
                entity.attributes.firstIndex { $0.attribute.name == name }
            }
            let version = try recorder.recordChanges(
                [(attributes[0], .text("Bea")), (attributes[1], .text("a"))], of: student,
                entity.rows[attributes])
            #expect(version == 1)
            for (attribute, keys) in zip(attributes, [[student.key], []]) {
                #expect(
                    context.changes.keys(changedIn: .attribute(attribute), of: student.entity)
                        == keys)
            }
            let missing = ObjectKey(entity: student.entity, key: 9)
            #expect(
                try recorder.recordChanges(
                    [(attributes[0], .null)], of: missing, entity.rows[[attributes[0]]]) == nil)
        }
    }

    @Test("the history recorder copies preserved attributes, and writes one transaction for a set")
    func transaction() throws {
        let student = try library.object(
            try library.insert("Student", ["name": "Ann", "grade": 1.5]))
        let statements = try #require(library.writer.statements)
        let transactions = try TransactionWriter(statements.connection)
        try library.withContext { context in
            let recorder = HistoryRecorder(context: context, transaction: 7)
            #expect(try recorder.runs().isEmpty)
            try recorder.preserveValues(of: student, UniquenessCheck())
            context.changes.delete(student)
            let run = ChangeSetRun(
                context, values: library.writer.values, transaction: 7, time: 1)
            try transactions.write(
                run, recorder.runs(), ChangeSource(), author: "me", statements)
            #expect(
                try context.values(
                    "SELECT kind FROM \(Layout.everyChange) WHERE transaction_number = 7")
                    == [.integer(3)])
        }
    }
}
