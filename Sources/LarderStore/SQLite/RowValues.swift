/// The values of one row, by their places from 0. Good until the statement goes on.
protocol RowValues {
    func isNull(at place: Int) -> Bool
    /// 0 for nil.
    func int64(at place: Int) -> Int64
    /// 0 for nil.
    func double(at place: Int) -> Double
    /// Lends the bytes of a text (UTF-8) or blob; none for nil.
    func withBytes<Result, Failure: Error>(
        at place: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result
}

extension RowValues {
    /// A text as a string; empty for nil.
    func string(at place: Int) -> String {
        withBytes(at: place) { String(decoding: $0, as: UTF8.self) }
    }
}

extension Statement: RowValues {}

extension FunctionArguments: RowValues {
    func isNull(at place: Int) -> Bool { self[place].isNull }
    func int64(at place: Int) -> Int64 { self[place].int64 }
    func double(at place: Int) -> Double { self[place].double }

    func withBytes<Result, Failure: Error>(
        at place: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try self[place].withBytes(body)
    }
}
