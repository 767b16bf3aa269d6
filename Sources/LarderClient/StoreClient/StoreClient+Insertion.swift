public import LarderModel

/// Bulk insertion of objects of one entity, in bounded memory on both sides.
extension StoreClient {
    /// Opens a stream of new objects, blocking.
    ///
    /// - Parameter timeout: The time limit of the whole stream. nil is no limit for several
    ///   transactions, and the server's limit (one hour) for a single one.
    /// - Throws: errors of the connection. ``InsertionStream`` throws the errors of the rows.
    public func openInsertion(
        _ insertion: Insertion, timeout: Duration? = nil
    ) throws(LarderError) -> InsertionStream {
        let connection = try session.connection(
            replacing: nil, for: session.attempt(isWrite: true))
        return try InsertionStream(insertion, over: connection, timeout: timeout, client: self)
    }

    /// The asynchronous form of `openInsertion(_:timeout:)`.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func openInsertion(
        _ insertion: Insertion, timeout: Duration? = nil
    ) async throws(LarderError) -> InsertionStream {
        let connection = try await session.connection(
            replacing: nil, for: session.attempt(isWrite: true))
        return try InsertionStream(insertion, over: connection, timeout: timeout, client: self)
    }

    /// Inserts one object per row, blocking.
    ///
    /// Rows are taken from the sequence as they are sent, so the sequence may be longer than
    /// memory.
    ///
    /// - Parameters:
    ///   - properties: The names of the properties that rows have values for. Others get their
    ///     defaults.
    ///   - rows: One value per property, in the order of `properties`.
    /// - Returns: the number of rows, and the runs of their keys if the insertion wants
    ///   identifiers; see `InsertedRows.identifiers(of:store:)`.
    /// - Throws: as `InsertionStream.send(_:)` does, and `unknownEntity`,
    ///   `unknownProperty`, `wrongType` for a row. If there are several transactions, the hint has
    ///   the number of rows that are stored.
    @inlinable
    public func insertAll(
        _ insertion: Insertion, properties: [String], rows: some Sequence<[Value]>
    ) throws(LarderError) -> InsertedRows {
        var rows = rows.makeIterator()
        return try insertAll(insertion, properties) { rows.next() }
    }

    /// Inserts one object per row.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` or `indeterminate` if the task is
    ///   cancelled.
    @inlinable
    public func insertAll(
        _ insertion: Insertion, properties: [String], rows: some Sequence<[Value]> & Sendable
    ) async throws(LarderError) -> InsertedRows {
        var rows = rows.makeIterator()
        return try await insertAll(insertion, properties) { rows.next() }
    }

    /// The generic forms call this one, so that only they are compiled into the caller's module.
    ///
    /// - Parameter next: The next row; nil after the last.
    @usableFromInline
    func insertAll(
        _ insertion: Insertion, _ properties: [String], next: () -> [Value]?
    ) throws(LarderError) -> InsertedRows {
        var builder = try rowBuilder(insertion, properties, schema())
        let stream = try openInsertion(insertion)
        do throws(LarderError) {
            while let row = next() {
                try builder.append(row)
                if builder.isFull { try stream.send(builder.take()) }
            }
            if builder.rowCount > 0 { try stream.send(builder.take()) }
            return try stream.finish()
        } catch {
            throw stream.describingProgress(error, insertion)
        }
    }

    @usableFromInline
    func insertAll(
        _ insertion: Insertion, _ properties: [String], next: () -> [Value]?
    ) async throws(LarderError) -> InsertedRows {
        var builder = try rowBuilder(insertion, properties, await schema())
        let stream = try await openInsertion(insertion)
        do throws(LarderError) {
            while let row = next() {
                try builder.append(row)
                if builder.isFull { try await stream.send(builder.take()) }
            }
            if builder.rowCount > 0 { try await stream.send(builder.take()) }
            return try await stream.finish()
        } catch {
            throw stream.describingProgress(error, insertion)
        }
    }

    /// Inserts one object per row of an asynchronous sequence.
    ///
    /// - Throws: what the other forms throw, and the errors of the sequence.
    public func insertAll<Rows: AsyncSequence>(
        _ insertion: Insertion, properties: [String], rows: Rows
    ) async throws -> InsertedRows where Rows.Element == [Value] {
        var builder = try rowBuilder(insertion, properties, await schema())
        let stream = try await openInsertion(insertion)
        do {
            for try await row in rows {
                try builder.append(row)
                if builder.isFull { try await stream.send(builder.take()) }
            }
            if builder.rowCount > 0 { try await stream.send(builder.take()) }
            return try await stream.finish()
        } catch let error as LarderError {
            throw stream.describingProgress(error, insertion)
        }
    }

    private func rowBuilder(
        _ insertion: Insertion, _ properties: [String], _ schema: Schema
    ) throws(LarderError) -> RowBuilder {
        try insertion.check(nil, in: schema)
        guard let entity = schema.entity(named: insertion.entityName) else {
            throw LarderError(.unknownEntity, "there is no entity \(insertion.entityName)")
        }
        return try RowBuilder(
            entity, properties, in: schema, store: session.welcome.storeIdentifier)
    }
}

extension RowBuilder {
    fileprivate var isFull: Bool {
        rowCount >= InsertionStream.rowsMax || byteCount >= InsertionStream.bytesMax
    }
}

extension InsertionStream {
    /// The error, with the number of rows that are stored in its hint.
    fileprivate func describingProgress(
        _ error: LarderError, _ insertion: Insertion
    ) -> LarderError {
        guard !insertion.isAtomic, error.code != .indeterminate else { return error }
        // Batches in flight are stored too, unless the error comes from the server.
        try? settle()
        cancel()
        let count = progress.rowCount
        let rest = count == 1 ? "the first row is stored" : "the first \(count) rows are stored"
        var described = error
        described.hint = error.hint.map { "\($0); \(rest)" } ?? rest
        return described
    }
}
