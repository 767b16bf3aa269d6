import CSQLite

/// A row that a query of an FTS5 table has found. Valid during the call of a function only.
struct MatchedRow {
    fileprivate let api: UnsafePointer<Fts5ExtensionApi>
    fileprivate let context: OpaquePointer?

    /// The number of phrases of the query, excluded ones too.
    var phraseCount: Int { Int(api.pointee.xPhraseCount(context)) }

    var columnCount: Int { Int(api.pointee.xColumnCount(context)) }

    /// Calls the closure with the phrase and the column of each occurrence of a phrase that makes
    /// the row match.
    func forEachInstance(_ body: (_ phrase: Int, _ column: Int) -> Void) {
        var count: Int32 = 0
        guard api.pointee.xInstCount(context, &count) == SQLITE_OK else { return }
        for index in 0..<max(0, count) {
            var (phrase, column, offset): (Int32, Int32, Int32) = (0, 0, 0)
            guard api.pointee.xInst(context, index, &phrase, &column, &offset) == SQLITE_OK else {
                return
            }
            body(Int(phrase), Int(column))
        }
    }

    func wordCount(inColumn column: Int) -> Int {
        var count: Int32 = 0
        guard api.pointee.xColumnSize(context, Int32(column), &count) == SQLITE_OK else { return 0 }
        return Int(count)
    }
}

extension Connection {
    /// Registers a function of the rows that queries of FTS5 tables find. Its argument is the name
    /// of the table. Without FTS5 there is no table that could be one.
    ///
    /// FTS5 has a reference to the closure's box, and releases it with the connection.
    func registerMatch(
        name: String, body: @escaping (MatchedRow) -> FunctionResult
    ) throws(SQLiteError) {
        guard let api = larder_fts5_api(handle) else { return }
        let box = Unmanaged.passRetained(MatchBody(body)).toOpaque()
        let result = api.pointee.xCreateFunction(
            api, name, box,
            { api, match, context, _, _ in
                guard let api, let box = api.pointee.xUserData(match) else { return }
                // Not retained, because this runs per row; FTS5 holds the box.
                Unmanaged<MatchBody>.fromOpaque(box)._withUnsafeGuaranteedRef {
                    $0.body(MatchedRow(api: api, context: match)).set(on: context)
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
    let body: (MatchedRow) -> FunctionResult
    init(_ body: @escaping (MatchedRow) -> FunctionResult) { self.body = body }
}
