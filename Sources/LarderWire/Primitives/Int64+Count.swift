internal import LarderModel

extension Int64 {
    /// A number of things in a message, which is not negative.
    ///
    /// - Parameter what: The things, in the plural.
    init(count number: UInt64, _ what: String) throws(LarderError) {
        guard let count = Int64(exactly: number) else {
            throw .malformed("the number of \(what) is negative")
        }
        self = count
    }
}
