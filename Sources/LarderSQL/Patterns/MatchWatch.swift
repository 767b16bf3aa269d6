import LarderModel

/// Limits the bytes over which a match of a regular expression moves, forward and backward.
final class MatchWatch {
    private let movedBytesMax: Int
    private var movedBytesLeft = 0
    private var position = 0
    private var interruption = Interruption.never

    init(movedBytesMax: Int) { self.movedBytesMax = movedBytesMax }

    func start(_ interruption: Interruption) {
        movedBytesLeft = movedBytesMax
        position = 0
        self.interruption = interruption
    }

    /// Called before each item of the pattern, with the offset in the text in bytes.
    func allows(movingTo next: Int) -> Bool {
        let distance = abs(next - position)
        position = next
        movedBytesLeft -= distance + 1
        return movedBytesLeft > 0 && !interruption.isDue(after: distance)
    }
}
