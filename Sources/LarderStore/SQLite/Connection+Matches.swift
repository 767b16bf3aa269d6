import CSQLite
import LarderSQL

/// A row that a query of an FTS5 table has found. Valid during the call of a function only.
struct MatchedRow {
    fileprivate let api: UnsafePointer<Fts5ExtensionApi>
    fileprivate let context: OpaquePointer?

    /// The number of phrases of the query, excluded ones too.
    var phraseCount: Int { Int(api.pointee.xPhraseCount(context)) }

    /// The number of columns of the table.
    var columnCount: Int { Int(api.pointee.xColumnCount(context)) }

    var key: Int64 { api.pointee.xRowid(context) }

    /// An object for the function that FTS5 keeps for all rows of a run of the query.
    ///
    /// A function must use one class.
    func state<State: AnyObject>(_ make: () -> State) -> State? {
        if let known = api.pointee.xGetAuxdata(context, 0) {
            return Unmanaged<State>.fromOpaque(known).takeUnretainedValue()
        }
        let made = make()
        // If this fails, FTS5 has released the object already.
        let result = api.pointee.xSetAuxdata(
            context, Unmanaged.passRetained(made).toOpaque(),
            { if let object = $0 { Unmanaged<AnyObject>.fromOpaque(object).release() } })
        return result == SQLITE_OK ? made : nil
    }

    /// Calls the closure with the column of each occurrence of a phrase that makes the row match,
    /// and with the index of the occurrence's first word in the column.
    func forEachInstance(
        ofPhrase phrase: Int, _ body: (_ column: Int, _ wordIndex: Int) -> Void
    ) {
        var iterator = Fts5PhraseIter()
        var (column, offset): (Int32, Int32) = (0, 0)
        guard
            api.pointee.xPhraseFirst(context, Int32(phrase), &iterator, &column, &offset)
                == SQLITE_OK
        else { return }
        while column >= 0 {
            body(Int(column), Int(offset))
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
    ) throws(SQLError) {
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
        guard result == SQLITE_OK else { throw SQLError(handle, result, sql: name) }
    }
}

/// A closure as an object, for a pointer to it.
private final class MatchBody {
    let body: (MatchedRow, FunctionArguments) -> FunctionResult
    init(_ body: @escaping (MatchedRow, FunctionArguments) -> FunctionResult) { self.body = body }
}
