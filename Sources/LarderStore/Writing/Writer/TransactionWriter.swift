import LarderModel
import LarderSQL

/// Writes transactions into the history.
///
/// It steps SQLite's statements itself, because values that two transactions have in common, such
/// as the client's name, stay bound. One per writer's connection.
final class TransactionWriter {
    private struct Bound {
        let source: ChangeSource
        let author: String
        let run: ChangeRun
    }

    private let statement: Statement
    /// nil before the first transaction and after a failure.
    private var bound: Bound?

    init(_ connection: Connection) throws(SQLError) {
        statement = try connection.prepare(Layout.insertTransaction, persistent: true)
    }

    /// Writes the transaction of a set with its runs of changes, of which there is at least one.
    func write(
        _ run: ChangeSetRun, _ changes: [ChangeRun], _ source: ChangeSource, author: String,
        _ statements: StatementCache
    ) throws(SQLError) {
        try insert(run, changes[0], source, author: author)
        guard changes.count > 1 else { return }
        let several = (changes.count - 1) / Layout.changesAtOnce * Layout.changesAtOnce
        try insert(
            changes, 1..<1 + several, run,
            statements.statement(Layout.insertSeveralChanges), atOnce: Layout.changesAtOnce)
        try insert(
            changes, 1 + several..<changes.count, run,
            statements.statement(Layout.insertChange), atOnce: 1)
    }

    /// - Parameter count: The number of runs that one execution of the statement inserts.
    private func insert(
        _ changes: [ChangeRun], _ indices: Range<Int>, _ run: ChangeSetRun,
        _ statement: Statement, atOnce count: Int
    ) throws(SQLError) {
        guard !indices.isEmpty else { return }
        try statement.bind(integer: run.transaction, at: 1)
        for start in stride(from: indices.lowerBound, to: indices.upperBound, by: count) {
            try run.context.checkBudget()
            for index in start..<start + count {
                let bound = start == indices.lowerBound ? nil : changes[index - count]
                let parameter = 2 + (index - start) * Layout.changeParameterCount
                try statement.bind(integer: Int64(index), at: parameter)
                try changes[index].bind(
                    to: statement, from: parameter + 1, replacing: bound, run.context.schema)
            }
            try statement.run()
        }
    }

    /// Inserts a transaction with its first run of changes.
    private func insert(
        _ run: ChangeSetRun, _ first: ChangeRun, _ source: ChangeSource, author: String
    ) throws(SQLError) {
        let last = bound
        bound = nil
        try statement.bind(integer: run.transaction, at: 1)
        try statement.bind(.real(run.time), at: 2)
        if last?.author != author {
            try statement.bind(author.isEmpty ? .null : .text(author), at: 3)
        }
        if last?.source != source { try bind(source) }
        try first.bind(to: statement, from: 7, replacing: last?.run, run.context.schema)
        try statement.run()
        bound = Bound(source: source, author: author, run: first)
    }

    private func bind(_ source: ChangeSource) throws(SQLError) {
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
    ) throws(SQLError) {
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
}
