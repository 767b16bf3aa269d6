/// The budget of a read or change set, as far as it limits the conversion of values.
///
/// Used on one thread at a time.
package protocol ConversionLimit: AnyObject {
    /// Whether what is being done has to stop.
    var isStopped: Bool { get }

    /// Counts bytes of values that are converted for a statement; false if it has to stop.
    func allowsConversion(ofBytes count: Int) -> Bool

    /// Reads the clock; false if it has to stop before the next statement.
    func allowsMoreStatements() -> Bool
}
