import CSQLite
import LarderModel
import LarderQuery

/// The arguments of one call of an SQL function. Valid during the call only.
struct FunctionArguments {
    fileprivate let context: OpaquePointer?
    fileprivate let values: UnsafeMutablePointer<OpaquePointer?>?
    let count: Int

    init(
        _ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?, count: Int32
    ) {
        self.context = context
        self.values = values
        self.count = Int(count)
    }

    subscript(index: Int) -> FunctionArgument {
        precondition(index >= 0 && index < count)
        return FunctionArgument(handle: values?[index])
    }
}

extension FunctionArguments {
    /// The size of the texts and blobs.
    var byteCount: Int {
        var sum = 0
        for index in 0..<count { sum += FunctionArgument(handle: values?[index]).byteCount }
        return sum
    }
}

extension FunctionArguments {
    /// An object made from a constant argument once per run of the statement. If the argument is
    /// not constant, SQLite releases the object after the call.
    ///
    /// A function must use one class for an argument.
    func prepared<Prepared: AnyObject, Failure: Error>(
        at index: Int, _ make: () throws(Failure) -> Prepared
    ) throws(Failure) -> Prepared {
        if let known = sqlite3_get_auxdata(context, Int32(index)) {
            return Unmanaged<Prepared>.fromOpaque(known).takeUnretainedValue()
        }
        let made = try make()
        sqlite3_set_auxdata(
            context, Int32(index), Unmanaged.passRetained(made).toOpaque(),
            { if let object = $0 { Unmanaged<AnyObject>.fromOpaque(object).release() } })
        return made
    }

    /// Passes the same object.
    @inline(__always)
    func withPrepared<Prepared: AnyObject, Result>(
        at index: Int, _ make: () -> Prepared, body: (Prepared) -> Result
    ) -> Result {
        guard let known = sqlite3_get_auxdata(context, Int32(index)) else {
            return body(prepared(at: index, make))
        }
        // Not retained, because this runs per row; SQLite has a reference during the call.
        return Unmanaged<Prepared>.fromOpaque(known)._withUnsafeGuaranteedRef { body($0) }
    }

    /// The form for an argument that may be nil; nil if it is.
    func preparedUnlessNull<Prepared: AnyObject, Failure: Error>(
        at index: Int, _ make: () throws(Failure) -> Prepared
    ) throws(Failure) -> Prepared? {
        if let known = sqlite3_get_auxdata(context, Int32(index)) {
            return Unmanaged<Prepared>.fromOpaque(known).takeUnretainedValue()
        }
        return self[index].isNull ? nil : try prepared(at: index, make)
    }
}

/// One argument of an SQL function. Valid during the call only.
struct FunctionArgument {
    fileprivate let handle: OpaquePointer?

    var type: Statement.ColumnType {
        switch sqlite3_value_type(handle) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    var isInteger: Bool { sqlite3_value_type(handle) == SQLITE_INTEGER }

    var isNull: Bool { sqlite3_value_type(handle) == SQLITE_NULL }

    /// The size of a text or blob; 0 for others.
    @inline(__always)
    var byteCount: Int {
        // SQLite would convert a number to text to count its bytes.
        let type = sqlite3_value_type(handle)
        guard type == SQLITE_TEXT || type == SQLITE_BLOB else { return 0 }
        return Int(sqlite3_value_bytes(handle))
    }

    var int64: Int64 { sqlite3_value_int64(handle) }

    var double: Double { sqlite3_value_double(handle) }

    /// Passes the bytes of a text (UTF-8) or blob; none for nil. They are valid within the closure.
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let start = sqlite3_value_blob(handle)
        let count = Int(sqlite3_value_bytes(handle))
        return try body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    /// The form of ``withBytes(_:)`` for functions that need no unsafe pointer.
    @inline(__always)
    func withSpan<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withBytes { bytes throws(Failure) in try body(Span(_unsafeBytes: bytes)) }
    }

    var string: String { withBytes { String(decoding: $0, as: UTF8.self) } }
}

/// The result of an SQL function.
enum FunctionResult {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    /// A text in UTF-8.
    case utf8(ArraySlice<UInt8>)
    /// A decimal, as its canonical text; nil if it is too large or too small for one.
    case decimal(ExactDecimal)
    /// The argument with this index, unchanged.
    case argument(Int)
    case blob([UInt8])
    /// Ends the statement; the text is the error's message.
    case error(String)

    /// The result after the statement's budget is used up.
    static let stopped = FunctionResult.error("the read has been stopped")

    /// The size of a text or blob that was made for the result.
    var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .utf8(let bytes): bytes.count
        case .blob(let bytes): bytes.count
        case .null, .integer, .real, .decimal, .argument, .error: 0
        }
    }

    /// Passes the result to SQLite, which copies it.
    ///
    /// - Parameter arguments: The arguments of the call; nil for an aggregate.
    func set(on context: OpaquePointer?, _ arguments: FunctionArguments? = nil) {
        switch self {
        case .null: sqlite3_result_null(context)
        case .integer(let integer): sqlite3_result_int64(context, integer)
        case .real(let real): sqlite3_result_double(context, real)
        case .text(var text):
            text.withUTF8 { Self.setText($0, on: context) }
        case .utf8(let bytes):
            bytes.withUnsafeBufferPointer { Self.setText($0, on: context) }
        case .decimal(let decimal):
            let isSet: Void? = decimal.withStoredText { text in
                text.withUnsafeBufferPointer { Self.setText($0, on: context) }
            }
            if isSet == nil { sqlite3_result_null(context) }
        case .argument(let index): sqlite3_result_value(context, arguments?.values?[index])
        case .blob(let blob):
            blob.withUnsafeBytes { bytes in
                guard let count = Int32(exactly: bytes.count) else {
                    return sqlite3_result_error_toobig(context)
                }
                guard let start = bytes.baseAddress, count > 0 else {
                    sqlite3_result_zeroblob(context, 0)
                    return
                }
                larder_sqlite3_result_blob(context, start, count)
            }
        case .error(let message): sqlite3_result_error(context, message, -1)
        }
    }

    private static func setText(_ bytes: UnsafeBufferPointer<UInt8>, on context: OpaquePointer?) {
        guard let count = Int32(exactly: bytes.count) else {
            return sqlite3_result_error_toobig(context)
        }
        bytes.withMemoryRebound(to: CChar.self) { characters in
            guard let start = characters.baseAddress else {
                return larder_sqlite3_result_text(context, "", 0)
            }
            larder_sqlite3_result_text(context, start, count)
        }
    }
}
