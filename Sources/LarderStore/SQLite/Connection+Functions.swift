import CSQLite

/// The state of one group while an aggregate function runs over it.
protocol Aggregation: AnyObject {
    func step(_ arguments: FunctionArguments)
    /// Called once at the end, also for a group without rows.
    func finish() -> FunctionResult
}

/// Functions and collations written in Swift.
///
/// SQLite keeps one strong reference to each closure's box and gives it back through the
/// destructor, so a box lives exactly as long as the function is registered. Calls come on the
/// connection's thread, from within `step`.
extension Connection {
    /// The function is not called any more once the statement's budget is used up.
    ///
    /// - Parameter argumentCount: -1 for any number.
    func registerScalar(
        name: String, argumentCount: Int32,
        body: @escaping (FunctionArguments) -> FunctionResult
    ) throws(SQLiteError) {
        let bounded = { [limit] (arguments: FunctionArguments) -> FunctionResult in
            limit.allowsMore(bytes: arguments.byteCount)
                ? body(arguments) : .error("the read has been stopped")
        }
        let box = Unmanaged.passRetained(Box(bounded)).toOpaque()
        let result = sqlite3_create_function_v2(
            handle, name, argumentCount, functionFlags, box,
            { context, count, values in
                let box: Box<(FunctionArguments) -> FunctionResult> = unboxed(
                    sqlite3_user_data(context))
                box.content(FunctionArguments(values, count: count)).set(on: context)
            },
            nil, nil, release)
        // On failure SQLite has called the destructor already.
        guard result == SQLITE_OK else { throw SQLiteError(handle, result, sql: name) }
    }

    func registerAggregate(
        name: String, argumentCount: Int32, make: @escaping () -> any Aggregation
    ) throws(SQLiteError) {
        let box = Unmanaged.passRetained(Box(make)).toOpaque()
        let result = sqlite3_create_function_v2(
            handle, name, argumentCount, functionFlags, box, nil,
            { context, count, values in
                guard let aggregation = currentAggregation(context, createIfMissing: true) else {
                    return sqlite3_result_error_nomem(context)
                }
                // Not retained: it is called for each row, and the group's memory keeps it.
                aggregation._withUnsafeGuaranteedRef {
                    $0.content.step(FunctionArguments(values, count: count))
                }
            },
            { context in finishAggregation(context) }, release)
        guard result == SQLITE_OK else { throw SQLiteError(handle, result, sql: name) }
    }

    /// - Parameter compare: Negative, zero or positive; a total order over all byte sequences.
    func registerCollation(
        name: String,
        compare: @escaping (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int
    ) throws(SQLiteError) {
        let content = Box(compare)
        let box = Unmanaged.passRetained(content).toOpaque()
        let result = sqlite3_create_collation_v2(
            handle, name, SQLITE_UTF8, box,
            { box, leftCount, left, rightCount, right in
                let box: Box<(UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int> = unboxed(box)
                let order = box.content(
                    UnsafeRawBufferPointer(start: left, count: left == nil ? 0 : Int(leftCount)),
                    UnsafeRawBufferPointer(start: right, count: right == nil ? 0 : Int(rightCount)))
                return Int32(order.signum())
            }, release)
        guard result == SQLITE_OK else {
            // Unlike functions, a collation that fails is not destroyed by SQLite.
            Unmanaged.passUnretained(content).release()
            throw SQLiteError(handle, result, sql: name)
        }
    }
}

/// A closure behind a pointer.
private final class Box<Content> {
    let content: Content
    init(_ content: Content) { self.content = content }
}

private func unboxed<Content>(_ pointer: UnsafeMutableRawPointer?) -> Box<Content> {
    guard let pointer else { preconditionFailure("SQLite returns the pointer that it was given") }
    return Unmanaged<Box<Content>>.fromOpaque(pointer).takeUnretainedValue()
}

private func release(_ pointer: UnsafeMutableRawPointer?) {
    guard let pointer else { return }
    Unmanaged<AnyObject>.fromOpaque(pointer).release()
}

/// Innocuous: they may be used by what is in the file's schema even if that is not trusted.
private let functionFlags = SQLITE_UTF8 | SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC

/// The group's state: SQLite's memory for the group holds one strong reference to it, which
/// `finishAggregation` takes back; SQLite calls that for every group, aborted ones too.
private func currentAggregation(
    _ context: OpaquePointer?, createIfMissing: Bool
) -> Unmanaged<Box<any Aggregation>>? {
    let size = createIfMissing ? Int32(MemoryLayout<UnsafeRawPointer?>.size) : 0
    guard let memory = sqlite3_aggregate_context(context, size) else { return nil }
    let slot = memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    if let existing = slot.pointee {
        return Unmanaged.fromOpaque(existing)
    }
    guard createIfMissing else { return nil }
    let box: Box<() -> any Aggregation> = unboxed(sqlite3_user_data(context))
    let created = Unmanaged.passRetained(Box(box.content()))
    slot.pointee = created.toOpaque()
    return created
}

private func finishAggregation(_ context: OpaquePointer?) {
    guard let aggregation = currentAggregation(context, createIfMissing: false) else {
        // No row came: a fresh state gives the answer for none.
        let box: Box<() -> any Aggregation> = unboxed(sqlite3_user_data(context))
        return box.content().finish().set(on: context)
    }
    aggregation.takeUnretainedValue().content.finish().set(on: context)
    guard let memory = sqlite3_aggregate_context(context, 0) else { return }
    memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self).pointee = nil
    aggregation.release()
}
