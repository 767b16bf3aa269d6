/// A pattern of LIKE, read once and matched against any number of strings.
///
/// `?` is one character, `*` any run of them, and a backslash takes the meaning from the next one;
/// a backslash at the very end stands for itself.
public struct LikePattern: Sendable {
    private enum Step<Unit: Equatable & Sendable>: Equatable, Sendable {
        case unit(Unit)
        case anyUnit
        case anyRun
    }

    private let characters: [Step<Character>]
    /// The same in bytes, where each byte of the pattern is a character.
    private let bytes: [Step<UInt8>]?

    public init(_ pattern: String) {
        characters = Self.steps(of: pattern)
        bytes = pattern.isBytePerCharacter ? characters.map(Self.byteStep) : nil
    }

    /// Whether the whole string is of the pattern's form. Takes time up to the product of both
    /// lengths, for any pattern.
    public func matches(_ string: String) -> Bool {
        matches(string, stepsMax: .max) ?? false
    }

    /// The same in a bounded time: nil if it is not known after so many steps.
    public func matches(
        _ string: String, stepsMax: Int, _ interruption: Interruption = .never
    ) -> Bool? {
        if let bytes, string.isBytePerCharacter {
            return Self.matches(Array(string.utf8), bytes, stepsMax: stepsMax, interruption)
        }
        // Not an array of them: it would take sixteen bytes for each.
        return Self.matches(string, characters, stepsMax: stepsMax, interruption)
    }

    private static func steps(of pattern: String) -> [Step<Character>] {
        var steps: [Step<Character>] = []
        var isEscaped = false
        for character in pattern {
            if isEscaped {
                steps.append(.unit(character))
                isEscaped = false
                continue
            }
            switch character {
            case "\\": isEscaped = true
            case "?": steps.append(.anyUnit)
            case "*":
                // Several runs are one.
                if steps.last != .anyRun { steps.append(.anyRun) }
            default: steps.append(.unit(character))
            }
        }
        if isEscaped { steps.append(.unit("\\")) }
        return steps
    }

    private static func byteStep(_ step: Step<Character>) -> Step<UInt8> {
        switch step {
        case .unit(let character): .unit(character.utf8.first ?? 0)
        case .anyUnit: .anyUnit
        case .anyRun: .anyRun
        }
    }

    private static func matches<Text: Collection>(
        _ text: Text, _ steps: [Step<Text.Element>], stepsMax: Int, _ interruption: Interruption
    ) -> Bool? {
        var interruption = interruption
        var place = text.startIndex
        var next = 0
        var stepsLeft = stepsMax
        // Where to go on with one more in the last run, once something does not match. Earlier
        // runs need no other try: what they would take over, the last one can.
        var lastRun: (next: Int, place: Text.Index)?
        while place < text.endIndex {
            guard stepsLeft > 0, !interruption.isDue() else { return nil }
            stepsLeft -= 1
            let step = next < steps.count ? steps[next] : nil
            if step == .anyRun {
                lastRun = (next, place)
                next += 1
            } else if step == .anyUnit || step == .unit(text[place]) {
                next += 1
                text.formIndex(after: &place)
            } else if let run = lastRun {
                place = text.index(after: run.place)
                lastRun = (run.next, place)
                next = run.next + 1
            } else {
                return false
            }
        }
        return steps[next...].allSatisfy { $0 == .anyRun }
    }
}
