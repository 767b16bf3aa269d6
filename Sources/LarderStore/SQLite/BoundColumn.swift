import CSQLite
import LarderModel
import LarderSQL

/// A column of many rows whose values are bound to a statement without copies.
///
/// The memory of texts and blobs does not move while the column lives. A statement refers to it
/// until its parameters are bound again or cleared. The caller keeps the column alive until then.
final class BoundColumn {
    enum Content {
        case integers([Int64])
        case reals([Double])
        case texts(heap: UnsafeMutablePointer<UInt8>, ends: [UInt32])
        case blobs(heap: UnsafeMutablePointer<UInt8>, ends: [UInt32])
    }

    fileprivate let content: Content
    /// Bit n % 8 of byte n / 8 is set where row n is nil.
    fileprivate let nulls: [UInt8]

    /// - Parameter isText: Whether bytes are texts, in UTF-8 and in their stored form.
    /// - Returns: nil for lists.
    init?(_ column: Column, isText: Bool) {
        nulls = column.nulls
        switch column.storage {
        case .integers(let values): content = .integers(values)
        case .doubles(let values): content = .reals(values)
        case .bytes(let bytes, let ends):
            // One byte more, so that there is an address if there are no bytes.
            let heap = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count + 1)
            heap.initialize(repeating: 0, count: bytes.count + 1)
            bytes.withUnsafeBufferPointer { source in
                if let start = source.baseAddress {
                    heap.update(from: start, count: source.count)
                }
            }
            content = isText ? .texts(heap: heap, ends: ends) : .blobs(heap: heap, ends: ends)
        case .lists: return nil
        }
    }

    deinit {
        switch content {
        case .texts(let heap, _), .blobs(let heap, _): heap.deallocate()
        case .integers, .reals: break
        }
    }

    fileprivate func isNull(_ row: Int) -> Bool {
        row >> 3 < nulls.count && nulls[row >> 3] & (1 << UInt8(row & 7)) != 0
    }
}

extension Statement {
    /// Binds the values of some rows: the first one to the parameter with an index, from 1, and
    /// each further one `stride` parameters after the one before.
    func bind(
        _ column: BoundColumn, _ rows: Range<Int>, at index: Int, stride: Int = 0
    ) throws(SQLError) {
        var parameter = Int32(index)
        for row in rows {
            try check(
                column.isNull(row)
                    ? sqlite3_bind_null(handle, parameter) : bind(column, row, parameter))
            parameter += Int32(stride)
        }
    }

    private func bind(_ column: BoundColumn, _ row: Int, _ parameter: Int32) -> Int32 {
        switch column.content {
        case .integers(let values): return sqlite3_bind_int64(handle, parameter, values[row])
        case .reals(let values): return sqlite3_bind_double(handle, parameter, values[row])
        case .texts(let heap, let ends):
            let start = row == 0 ? 0 : Int(ends[row - 1])
            let bytes = UnsafeRawPointer(heap + start).assumingMemoryBound(to: CChar.self)
            // Without a destructor SQLite makes no copy. The column outlives the binding.
            return sqlite3_bind_text(handle, parameter, bytes, Int32(ends[row]) - Int32(start), nil)
        case .blobs(let heap, let ends):
            let start = row == 0 ? 0 : Int(ends[row - 1])
            return sqlite3_bind_blob(
                handle, parameter, heap + start, Int32(ends[row]) - Int32(start), nil)
        }
    }

    func bind(integer: Int64, at index: Int) throws(SQLError) {
        try check(sqlite3_bind_int64(handle, Int32(index), integer))
    }

    private func check(_ result: Int32) throws(SQLError) {
        guard result == SQLITE_OK else { throw SQLError(connection.handle, result, sql: text) }
    }
}
