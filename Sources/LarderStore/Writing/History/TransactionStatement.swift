import LarderModel
import LarderSQL

/// The statement that inserts a transaction into the history, and the values that it has bound.
///
/// Values that two transactions have in common, such as the client's name, stay bound. One per
/// writer's connection.
final class TransactionStatement {
    private struct Bound {
        let source: ChangeSource
        let author: String
        let run: ChangeRun
    }

    private let statement: Statement
    /// nil before the first transaction and after a failure.
    private var bound: Bound?

    init(_ connection: Connection) throws(SQLiteError) {
        statement = try connection.prepare(Layout.insertTransaction, persistent: true)
    }

    /// Inserts a transaction with its first run of changes.
    func run(
        _ number: Int64, _ run: ChangeRun, _ schema: WritingSchema, source: ChangeSource,
        author: String, time: Double
    ) throws(SQLiteError) {
        let last = bound
        bound = nil
        try statement.bind(integer: number, at: 1)
        try statement.bind(.real(time), at: 2)
        if last?.author != author {
            try statement.bind(author.isEmpty ? .null : .text(author), at: 3)
        }
        if last?.source != source { try bind(source) }
        try run.bind(to: statement, from: 7, replacing: last?.run, schema)
        try statement.run()
        bound = Bound(source: source, author: author, run: run)
    }

    private func bind(_ source: ChangeSource) throws(SQLiteError) {
        let client = source.clientName
        try statement.bind(client.isEmpty ? .null : .text(client), at: 4)
        try statement.bind(
            source.userIdentifier.map { .integer(Int64($0)) } ?? .null, at: 5)
        try statement.bind(
            source.processIdentifier.map { .integer(Int64($0)) } ?? .null, at: 6)
    }
}

extension ChangeRun {
    /// Binds kind, entity, first key, last key and properties.
    ///
    /// - Parameter bound: The run that is bound to these parameters already; values that both have
    ///   in common are not bound again.
    func bind(
        to statement: Statement, from parameter: Int, replacing bound: ChangeRun?,
        _ schema: WritingSchema
    ) throws(SQLiteError) {
        try statement.bind(integer: kind.rawValue, at: parameter)
        if entity != bound?.entity {
            try statement.bind(.text(schema.entities[entity].name), at: parameter + 1)
        }
        try statement.bind(integer: first, at: parameter + 2)
        try statement.bind(integer: last, at: parameter + 3)
        guard kind != bound?.kind || entity != bound?.entity || properties != bound?.properties
        else { return }
        try statement.bind(
            kind == .updated ? .text(propertyNames(schema)) : .null, at: parameter + 4)
    }

    /// The names of the properties, sorted and separated by commas, which no name contains.
    private func propertyNames(_ schema: WritingSchema) -> String {
        properties.map { property in
            switch property {
            case .attribute(let number):
                schema.entities[entity].attributes[number].attribute.name
            case .relationship(let number): schema.relationships[number].relationship.name
            }
        }.sorted().joined(separator: ",")
    }
}
