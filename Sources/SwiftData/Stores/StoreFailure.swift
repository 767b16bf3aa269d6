internal import Foundation
internal import LarderModel

/// Errors of stores that others write, on their way through the object layer, which has one type
/// of error.
///
/// A call returns on the thread that made it, so the original is in the values of the thread. The
/// next failure replaces it.
enum StoreFailure {
    private static let key = "larder.storeFailure"

    /// - Returns: an error to throw in place of the original.
    static func wrapped(_ error: any Error) -> LarderError {
        if let error = error as? LarderError { return error }
        let wrapped = LarderError(
            .storageFailed, "the store has thrown \(type(of: error)) \(UUID().uuidString)")
        Thread.current.threadDictionary[key] = Pair(wrapped, error)
        return wrapped
    }

    static func original(of error: LarderError) -> (any Error)? {
        guard let pair = Thread.current.threadDictionary[key] as? Pair, pair.wrapped == error
        else { return nil }
        Thread.current.threadDictionary.removeObject(forKey: key)
        return pair.original
    }

    private final class Pair {
        let wrapped: LarderError
        let original: any Error

        init(_ wrapped: LarderError, _ original: any Error) {
            self.wrapped = wrapped
            self.original = original
        }
    }
}
