import LarderModel

/// A copy of a store at one moment, as a backup contains it: first it is made step by step, then it
/// is verified, then read. It takes disk space as long as it exists.
///
/// It is used on one thread at a time. The steps, and its release before they are complete, belong
/// to the thread of the store's writer.
package protocol StoreCopy: AnyObject {
    /// The length of the copy, as far as it is known: until the last step the store may grow.
    var byteCount: Int { get }

    /// The disk space that the remaining steps need.
    var bytesLeft: Int { get }

    /// Copies more of the store, for about this time. Changes of the parts that were copied before
    /// are copied with their commits; so the copy is that of the moment of the last step.
    ///
    /// - Returns: whether this was the last step.
    func step(timeMax: Duration) throws(LarderError) -> Bool

    /// Ends the copying, on the thread of the steps. The copy may be released on any thread then.
    func cancel()

    /// Verifies the whole copy: the file, every object and every link. After the last step.
    ///
    /// - Returns: the number of the last transaction in the copy.
    /// - Throws: `storageFailed` with the first findings, or what ended the verification.
    func verify(budget: ReadBudget) throws(LarderError) -> Int64

    /// Bytes of the verified copy; none at its end.
    func read(_ count: Int, at offset: Int) throws(LarderError) -> [UInt8]
}
