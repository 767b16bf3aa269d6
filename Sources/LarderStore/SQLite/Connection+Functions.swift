import CSQLite
import LarderSQL

/// The state of an aggregate function for one group.
protocol Aggregation: AnyObject {
    func step(_ arguments: FunctionArguments)
    /// Called once after the last row, also for a group without rows.
    func finish() -> FunctionResult
}

/// Functions and collations written in Swift.
///
/// SQLite has one strong reference to each closure's box and releases it through the destructor, so
/// a box lives exactly as long as its function is registered. SQLite calls functions on the
/// connection's thread, from within `step`.
extension Connection {
    /// Registers a function.
    ///
    /// - Parameters:
    ///   - argumentCount: -1 for any number.
    ///   - isBounded: Whether it is not called after the statement's budget is used up.
    func registerScalar(
        name: String, argumentCount: Int32, isBounded: Bool = true,
        body: @escaping (FunctionArguments) -> FunctionResult
    ) throws(SQLError) {
        let scalar = ScalarBody(limit: isBounded ? limit : nil, body: body)
        let box = Unmanaged.passRetained(Box(scalar)).toOpaque()
        let result = sqlite3_create_function_v2(
            handle, name, argumentCount, functionFlags, box,
            { context, count, values in
                guard let box = sqlite3_user_data(context) else { return }
                // Not retained, because this runs per row; SQLite holds the box.
                Unmanaged<Box<ScalarBody>>.fromOpaque(box)._withUnsafeGuaranteedRef {
                    $0.content.call(context, FunctionArguments(context, values, count: count))
                }
            },
            nil, nil, release)
        // On failure SQLite has called the destructor already.
        guard result == SQLITE_OK else { throw SQLError(handle, result, sql: name) }
    }

    func registerAggregate(
        name: String, argumentCount: Int32, make: @escaping () -> any Aggregation
    ) throws(SQLError) {
        let box = Unmanaged.passRetained(Box(make)).toOpaque()
        let result = sqlite3_create_function_v2(
            handle, name, argumentCount, functionFlags, box, nil,
            { context, count, values in
                guard let slot = aggregationSlot(context) else {
                    return sqlite3_result_error_nomem(context)
                }
                if slot.pointee == nil { beginAggregation(context, slot) }
                // Not retained, because this runs per row; the group's memory holds the state.
                slot.pointee?._withUnsafeGuaranteedRef {
                    $0.content.step(FunctionArguments(context, values, count: count))
                }
            },
            { context in finishAggregation(context) }, release)
        guard result == SQLITE_OK else { throw SQLError(handle, result, sql: name) }
    }

    /// - Parameter compare: Negative, zero or positive; a total order over all byte sequences.
    func registerCollation(
        name: String,
        compare: @escaping (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int
    ) throws(SQLError) {
        let content = Box(CollationBody(compare: compare))
        let box = Unmanaged.passRetained(content).toOpaque()
        let result = sqlite3_create_collation_v2(
            handle, name, SQLITE_UTF8, box,
            { box, leftCount, left, rightCount, right in
                guard let box else {
                    preconditionFailure("SQLite passes the pointer of the registration")
                }
                let left = UnsafeRawBufferPointer(
                    start: left, count: left == nil ? 0 : Int(leftCount))
                let right = UnsafeRawBufferPointer(
                    start: right, count: right == nil ? 0 : Int(rightCount))
                // Not retained, because this runs per comparison; SQLite holds the box.
                return Unmanaged<Box<CollationBody>>.fromOpaque(box)._withUnsafeGuaranteedRef {
                    Int32($0.content.compare(left, right).signum())
                }
            }, release)
        guard result == SQLITE_OK else {
            // Unlike functions, a collation that fails is not destroyed by SQLite.
            Unmanaged.passUnretained(content).release()
            throw SQLError(handle, result, sql: name)
        }
    }
}

/// A scalar function, with the budget of the statement that calls it; nil for no budget.
private struct ScalarBody {
    let limit: ExecutionLimit?
    let body: (FunctionArguments) -> FunctionResult

    @inline(__always)
    func call(_ context: OpaquePointer?, _ arguments: FunctionArguments) {
        guard limit?.allowsCall(ofBytes: arguments.byteCount) != false else {
            return FunctionResult.stopped.set(on: context)
        }
        let result = body(arguments)
        limit?.countResult(ofBytes: result.byteCount)
        result.set(on: context, arguments)
    }
}

/// A structure, because a box calls a closure of its own through a thunk.
private struct CollationBody {
    let compare: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int
}

/// A closure as an object, for a pointer to it.
private final class Box<Content> {
    let content: Content
    init(_ content: Content) { self.content = content }
}

private func unboxed<Content>(_ pointer: UnsafeMutableRawPointer?) -> Box<Content> {
    guard let pointer else { preconditionFailure("SQLite passes the pointer of the registration") }
    return Unmanaged<Box<Content>>.fromOpaque(pointer).takeUnretainedValue()
}

private func release(_ pointer: UnsafeMutableRawPointer?) {
    guard let pointer else { return }
    Unmanaged<AnyObject>.fromOpaque(pointer).release()
}

/// Innocuous: the file's schema may use them although it is not trusted.
private let functionFlags = SQLITE_UTF8 | SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC

/// SQLite's memory for a group: one strong reference to the group's state. `finishAggregation`
/// releases it; SQLite calls that for every group, also when the statement is aborted.
private typealias AggregationSlot = UnsafeMutablePointer<Unmanaged<Box<any Aggregation>>?>

/// - Parameter size: The bytes to allocate if the group has no memory; 0 allocates none.
@inline(__always)
private func aggregationSlot(
    _ context: OpaquePointer?, size: Int = MemoryLayout<AggregationSlot.Pointee>.size
) -> AggregationSlot? {
    sqlite3_aggregate_context(context, Int32(size))?
        .assumingMemoryBound(to: AggregationSlot.Pointee.self)
}

@inline(never)
private func beginAggregation(_ context: OpaquePointer?, _ slot: AggregationSlot) {
    slot.pointee = Unmanaged.passRetained(Box(madeAggregation(context)))
}

private func madeAggregation(_ context: OpaquePointer?) -> any Aggregation {
    let box: Box<() -> any Aggregation> = unboxed(sqlite3_user_data(context))
    return box.content()
}

private func finishAggregation(_ context: OpaquePointer?) {
    guard let slot = aggregationSlot(context, size: 0), let aggregation = slot.pointee else {
        // There was no row: a new state has the result for none.
        return madeAggregation(context).finish().set(on: context)
    }
    aggregation.takeUnretainedValue().content.finish().set(on: context)
    slot.pointee = nil
    aggregation.release()
}
