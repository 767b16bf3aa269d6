import LarderModel

/// An answer that is being read. It holds its snapshot until it is closed.
///
/// After an error it has nothing more to give and is only to be closed: SQLite cannot take up a
/// statement that was stopped.
final class Cursor: ResultCursor {
    private enum State {
        /// Before the first row.
        case opened
        /// The statement stands on a row that no batch holds yet.
        case onRow
        case finished
        case closed
    }

    private let session: ReadSession
    private let statement: Statement
    private let listTexts: [String]
    private var decoder: RowDecoder
    private var state = State.opened

    init(_ session: ReadSession, _ query: ResolvedQuery, _ sql: SQL) throws(ReadFailure) {
        self.session = session
        decoder = RowDecoder(query)
        listTexts = decoder.listTexts
        statement = try session.statement(sql.text)
        try session.bind(sql.bindings, to: statement)
        // A single statement is a snapshot by itself, as long as it runs.
        if !listTexts.isEmpty { try session.beginSnapshot() }
    }

    deinit { close() }

    var isOpen: Bool { state != .closed }

    func next(
        bytesMax: Int, budget: ReadBudget
    ) throws(ReadFailure) -> (batch: Batch, isLast: Bool) {
        precondition(state != .closed, "the cursor is closed")
        session.connection.setBudget(budget)
        defer { session.connection.setBudget(nil) }
        do throws(ReadFailure) {
            if state == .opened { try advance() }
            while state == .onRow {
                try appendRow()
                try advance()
                if decoder.byteCount >= bytesMax { break }
            }
        } catch {
            end(.finished)
            throw error
        }
        if state == .finished { end(.finished) }
        return (decoder.takeBatch(), state == .finished)
    }

    func close() {
        guard state != .closed else { return }
        end(.closed)
    }

    private func advance() throws(ReadFailure) {
        state = try session.step(statement) ? .onRow : .finished
    }

    private func appendRow() throws(ReadFailure) {
        let (session, listTexts) = (session, listTexts)
        try decoder.append(statement) { place, key throws(ReadFailure) in
            try session.list(listTexts[place], of: key)
        }
    }

    /// Ends the snapshot, as soon as it is not needed any more.
    private func end(_ state: State) {
        self.state = state
        statement.reset()
        // A cached statement is not to keep a large argument alive.
        statement.clearBindings()
        if !listTexts.isEmpty { session.endSnapshot() }
    }
}
