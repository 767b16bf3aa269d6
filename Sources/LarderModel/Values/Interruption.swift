/// Stops a long computation whose result is no longer needed.
///
/// The computation calls ``isDue(after:)`` for every element; the owner's closure is called once
/// per 1,024 elements. After an interruption the result is meaningless and only has to be returned
/// soon.
public struct Interruption {
    /// Elements between two calls of the closure: some hundred microseconds.
    @usableFromInline static let interval = 1_024

    @usableFromInline let isOver: (() -> Bool)?
    @usableFromInline var elementsLeft = Interruption.interval

    public init(isOver: @escaping () -> Bool) { self.isOver = isOver }

    @usableFromInline init() { isOver = nil }

    @inlinable public static var never: Interruption { Interruption() }

    /// Returns whether the computation should stop.
    ///
    /// - Parameter elements: The number of elements processed since the last call.
    @inlinable public mutating func isDue(after elements: Int = 1) -> Bool {
        elementsLeft -= max(1, elements)
        guard elementsLeft <= 0, let isOver else { return false }
        // After an interruption every further call returns true.
        guard isOver() else {
            elementsLeft = Self.interval
            return false
        }
        return true
    }
}
