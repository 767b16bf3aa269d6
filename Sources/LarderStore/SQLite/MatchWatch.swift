import LarderModel

/// Counts what a match of a regular expression passes over, in the text and back again.
final class MatchWatch {
    private let passedBytesMax: Int
    private var passedBytesLeft = 0
    private var position = 0
    private var interruption = Interruption.never

    init(passedBytesMax: Int) { self.passedBytesMax = passedBytesMax }

    func start(_ interruption: Interruption) {
        passedBytesLeft = passedBytesMax
        position = 0
        self.interruption = interruption
    }

    /// Called in front of each item of the pattern, with the place in the text in bytes.
    func allows(movingTo next: Int) -> Bool {
        let passed = abs(next - position)
        position = next
        passedBytesLeft -= passed + 1
        return passedBytesLeft > 0 && !interruption.isDue(after: passed)
    }
}
