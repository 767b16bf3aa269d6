import CSQLite

/// A row that a query of an FTS5 table has found. Valid during the call of a function only.
struct MatchedRow {
    fileprivate let api: UnsafePointer<Fts5ExtensionApi>
    fileprivate let context: OpaquePointer?

    /// The number of phrases of the query, excluded ones too.
    var phraseCount: Int { Int(api.pointee.xPhraseCount(context)) }

    /// Calls the closure with the column of each occurrence of a phrase that makes the row match.
    func forEachInstance(ofPhrase phrase: Int, _ body: (_ column: Int) -> Void) {
        var iterator = Fts5PhraseIter()
        var (column, offset): (Int32, Int32) = (0, 0)
        guard
            api.pointee.xPhraseFirst(context, Int32(phrase), &iterator, &column, &offset)
                == SQLITE_OK
        else { return }
        while column >= 0 {
            body(Int(column))
            api.pointee.xPhraseNext(context, &iterator, &column, &offset)
        }
    }
}

extension Connection {
    /// Registers a function of the rows that queries of FTS5 tables find. Its first argument, which
    /// the closure does not get, is the name of the table. Without FTS5 it does nothing.
    ///
    /// FTS5 has a reference to the closure's box, and releases it with the connection.
    func registerMatch(
        name: String, body: @escaping (MatchedRow, FunctionArguments) -> FunctionResult
    ) throws(SQLiteError) {
        guard let api = larder_fts5_api(handle) else { return }
        let box = Unmanaged.passRetained(MatchBody(body)).toOpaque()
        let result = api.pointee.xCreateFunction(
            api, name, box,
            { api, match, context, count, values in
                guard let api, let box = api.pointee.xUserData(match) else { return }
                // Not retained, because this runs per row; FTS5 holds the box.
                Unmanaged<MatchBody>.fromOpaque(box)._withUnsafeGuaranteedRef {
                    let arguments = FunctionArguments(context, values, count: count)
                    $0.body(MatchedRow(api: api, context: match), arguments).set(on: context)
                }
            },
            { box in
                if let box { Unmanaged<AnyObject>.fromOpaque(box).release() }
            })
        guard result == SQLITE_OK else { throw SQLiteError(handle, result, sql: name) }
    }
}

/// A closure as an object, for a pointer to it.
private final class MatchBody {
    let body: (MatchedRow, FunctionArguments) -> FunctionResult
    init(_ body: @escaping (MatchedRow, FunctionArguments) -> FunctionResult) { self.body = body }
}
