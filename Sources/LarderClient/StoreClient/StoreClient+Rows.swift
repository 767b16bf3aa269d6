public import LarderModel

/// Many new objects of one entity, in bounded memory on both sides.
extension StoreClient {
    /// Opens a stream of new objects.
    ///
    /// - Parameter timeout: Until all of it must be stored. Unless told, a stream of several
    ///   transactions lasts as long as its writer likes, and one of a single transaction as long as
    ///   the server allows (an hour).
    public func openInsertion(
        _ insertion: Insertion, timeout: Duration? = nil
    ) throws(LarderError) -> InsertionStream {
        let connection = try session.connection(
            replacing: nil, for: session.attempt(isWrite: true))
        return try InsertionStream(insertion, over: connection, timeout: timeout, client: self)
    }

    public func openInsertion(
        _ insertion: Insertion, timeout: Duration? = nil
    ) async throws(LarderError) -> InsertionStream {
        let connection = try await session.connection(
            replacing: nil, for: session.attempt(isWrite: true))
        return try InsertionStream(insertion, over: connection, timeout: timeout, client: self)
    }

    /// Inserts an object for each row, which has a value for each of the properties; the others get
    /// their defaults. Rows are taken as they can be sent, and not gathered.
    ///
    /// - Returns: How many there were, and the runs of their keys if the insertion wants
    ///   identifiers; see ``InsertedRows/identifiers(of:store:)``.
    /// - Throws: as ``InsertionStream/send(_:)-(Batch)`` does. The hint says how many rows are
    ///   stored all the same, where they are more than one transaction.
    @inlinable
    public func insertAll(
        _ insertion: Insertion, properties: [String], rows: some Sequence<[Value]>
    ) throws(LarderError) -> InsertedRows {
        var rows = rows.makeIterator()
        return try insertAll(insertion, properties) { rows.next() }
    }

    @inlinable
    public func insertAll(
        _ insertion: Insertion, properties: [String], rows: some Sequence<[Value]> & Sendable
    ) async throws(LarderError) -> InsertedRows {
        var rows = rows.makeIterator()
        return try await insertAll(insertion, properties) { rows.next() }
    }

    /// - Parameter next: Gives a row each time, and nil after the last. The caller's own sequence
    ///   is behind it, whose code the caller's module has.
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
            throw stream.telling(error, insertion)
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
            throw stream.telling(error, insertion)
        }
    }

    /// The same for rows that come with time.
    ///
    /// - Throws: what the sequence throws, too.
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
            throw stream.telling(error, insertion)
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
            entity, properties, in: schema, store: welcome.storeIdentifier)
    }
}

extension RowBuilder {
    fileprivate var isFull: Bool {
        rowCount >= InsertionStream.rowsMax || byteCount >= InsertionStream.bytesMax
    }
}

extension InsertionStream {
    /// The error, with what is stored in spite of it.
    fileprivate func telling(_ error: LarderError, _ insertion: Insertion) -> LarderError {
        guard !insertion.isAtomic, error.code != .indeterminate else { return error }
        // What is under way is stored too, unless the server found the fault itself.
        try? settle()
        cancel()
        let rest = "the first \(progress.rowCount) rows are stored"
        var told = error
        told.hint = error.hint.map { "\($0); \(rest)" } ?? rest
        return told
    }
}
