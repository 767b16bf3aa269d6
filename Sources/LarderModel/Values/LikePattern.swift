/// A parsed LIKE pattern that can be matched against any number of strings.
///
/// `?` matches one character, `*` any number of characters. A backslash escapes the next character;
/// at the end of the pattern it matches itself.
public struct LikePattern: Sendable {
    private enum Step<Unit: Equatable & Sendable>: Equatable, Sendable {
        case unit(Unit)
        case anyUnit
        case anyRun
    }

    private let characters: [Step<Character>]
    /// The steps over bytes, if each byte of the pattern is a character.
    private let bytes: [Step<UInt8>]?

    public init(_ pattern: String) {
        characters = Self.steps(of: pattern)
        bytes = pattern.isBytePerCharacter ? characters.map(Self.byteStep) : nil
    }

    /// Returns whether the pattern matches the whole string. Takes time at most proportional to the
    /// product of both lengths.
    public func matches(_ string: String) -> Bool {
        matches(string, stepsMax: .max) ?? false
    }

    /// Returns whether the pattern matches the whole string; nil if the result is unknown after
    /// `stepsMax` steps.
    public func matches(
        _ string: String, stepsMax: Int, _ interruption: Interruption = .never
    ) -> Bool? {
        if let bytes, string.isBytePerCharacter {
            return Self.matches(Array(string.utf8), bytes, stepsMax: stepsMax, interruption)
        }
        // The string is not copied into an array, which would take 16 bytes per character.
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
                // Consecutive runs are equivalent to one.
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
        var position = text.startIndex
        var next = 0
        var stepsLeft = stepsMax
        // Where to continue after a mismatch, with one more character in the last run. Backtracking
        // to earlier runs is unnecessary: the last run can match whatever they would.
        var lastRun: (next: Int, position: Text.Index)?
        while position < text.endIndex {
            guard stepsLeft > 0, !interruption.isDue() else { return nil }
            stepsLeft -= 1
            let step = next < steps.count ? steps[next] : nil
            if step == .anyRun {
                lastRun = (next, position)
                next += 1
            } else if step == .anyUnit || step == .unit(text[position]) {
                next += 1
                text.formIndex(after: &position)
            } else if let run = lastRun {
                position = text.index(after: run.position)
                lastRun = (run.next, position)
                next = run.next + 1
            } else {
                return false
            }
        }
        return steps[next...].allSatisfy { $0 == .anyRun }
    }
}
