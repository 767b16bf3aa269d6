/// Ends a long computation whose result nobody waits for any more.
///
/// The computation asks at each element that it deals with, and this asks its owner once for many
/// of them. What is computed after that means nothing; it only has to come soon.
public struct Interruption {
    /// Elements between two questions: some hundred microseconds.
    private static let interval = 1_024

    private let isOver: (() -> Bool)?
    private var elementsLeft = Interruption.interval

    public init(isOver: @escaping () -> Bool) { self.isOver = isOver }

    private init() { isOver = nil }

    public static var never: Interruption { Interruption() }

    /// - Parameter elements: that were dealt with since the last question.
    public mutating func isDue(after elements: Int = 1) -> Bool {
        elementsLeft -= max(1, elements)
        guard elementsLeft <= 0, let isOver else { return false }
        // Once it is over, each question is answered so.
        guard isOver() else {
            elementsLeft = Self.interval
            return false
        }
        return true
    }
}
