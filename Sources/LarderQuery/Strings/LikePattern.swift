import LarderModel

/// A parsed LIKE pattern that can be matched against any number of strings.
///
/// `?` matches one character, `*` any number of characters. A backslash escapes the next character;
/// at the end of the pattern it matches itself.
package struct LikePattern: Sendable {
    private enum Step<Unit: Equatable & Sendable>: Equatable, Sendable {
        case unit(Unit)
        case anyUnit
        case anyRun
    }

    private let characters: [Step<Character>]
    /// The parts between the runs, for texts of simple scalars.
    private let segments: [LikeSegment]

    package init(_ pattern: String) {
        characters = Self.steps(of: pattern.normalized)
        segments = Self.segments(of: characters)
    }

    /// Whether the pattern has `?`.
    var hasAnyCharacter: Bool { characters.contains(.anyUnit) }

    /// The longest sequence of bytes that every matching text contains.
    var longestLiteral: [UInt8] { literals.max { $0.count < $1.count } ?? [] }

    /// The texts between the wildcards, which every matching text contains.
    package var requiredTexts: [String] {
        literals.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
    }

    private var literals: [[UInt8]] { segments.flatMap(\.pieces).map(\.literal.part) }

    /// Returns whether the pattern matches the whole string. Takes time at most proportional to the
    /// product of both lengths.
    package func matches(_ string: String) -> Bool {
        matches(string, stepsMax: .max) ?? false
    }

    /// Returns whether the pattern matches the whole string; nil if the result is unknown after
    /// `stepsMax` steps.
    package func matches(
        _ string: String, stepsMax: Int, _ interruption: Interruption = .never
    ) -> Bool? {
        var interruption = interruption
        let string = string.normalized(interruption)
        let bytes = Array(string.utf8)
        if bytes.span.simpleCharacterCount != nil, !bytes.contains(0x0D) {
            return matches(simple: bytes.span, stepsMax: stepsMax, &interruption)
        }
        return matches(characters: string, stepsMax: stepsMax, interruption)
    }

    /// The form for any string in NFC.
    func matches(
        characters string: String, stepsMax: Int, _ interruption: Interruption
    ) -> Bool? {
        // The string is not copied into an array, which would take 16 bytes per character.
        Self.matches(string, characters, stepsMax: stepsMax, interruption)
    }

    /// The form for a text in NFC whose scalars are simple and are its characters.
    func matches(
        simple text: Span<UInt8>, stepsMax: Int, _ interruption: inout Interruption
    ) -> Bool? {
        var stepsLeft = stepsMax - 1
        guard stepsLeft >= 0 else { return nil }
        let end = segments[0].end(in: text, from: 0, &stepsLeft)
        guard segments.count > 1 else { return stepsLeft < 0 ? nil : end == text.count }
        guard var position = end,
            let last = segments[segments.count - 1].start(in: text, to: text.count, &stepsLeft),
            last >= position
        else { return stepsLeft < 0 ? nil : false }
        // Whatever a run before can match, the run after the first occurrence can match too.
        let middle = text.extracting(..<last)
        for segment in segments.dropFirst().dropLast() {
            let next = segment.firstEnd(in: middle, from: position, &stepsLeft, &interruption)
            guard stepsLeft >= 0, !interruption.isDue() else { return nil }
            guard let next else { return false }
            position = next
        }
        return stepsLeft < 0 ? nil : true
    }

    /// Whether a text in NFC certainly matches, whatever characters it has outside of what the
    /// pattern's literals and `?` match: these are simple scalars between simple boundaries. The
    /// pattern has to begin and end with `*`. False if that is not certain.
    func matchesParts(
        of text: Span<UInt8>, stepsMax: Int, _ interruption: inout Interruption
    ) -> Bool {
        guard segments.count > 2, segments[0].pieces.isEmpty,
            segments[segments.count - 1].pieces.isEmpty
        else { return false }
        var stepsLeft = stepsMax
        var position = 0
        for index in 1..<segments.count - 1 {
            let segment = segments[index]
            guard
                let end = segment.firstEnd(in: text, from: position, &stepsLeft, &interruption),
                let start = segment.start(in: text, to: end, &stepsLeft), stepsLeft >= 0,
                text.isSimpleBoundary(start), text.isSimpleBoundary(end)
            else { return false }
            let part = text.extracting(start..<end)
            guard part.simpleCharacterCount != nil, !part.hasCarriageReturn else { return false }
            position = end
        }
        return true
    }

    private static func segments(of steps: [Step<Character>]) -> [LikeSegment] {
        steps.split(separator: .anyRun, omittingEmptySubsequences: false).map { steps in
            var segment = LikeSegment()
            var skipped = 0
            var literal: [UInt8] = []
            for step in steps {
                switch step {
                case .unit(let character): literal += Array(character.utf8)
                case .anyUnit, .anyRun:
                    if !literal.isEmpty {
                        segment.append(skipping: skipped, literal)
                        (skipped, literal) = (0, [])
                    }
                    skipped += 1
                }
            }
            segment.append(skipping: skipped, literal)
            return segment
        }
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

/// The part of a LIKE pattern between two runs, for texts of simple scalars: numbers of any
/// characters and literals, alternately. Each step is a byte that is compared or a character that
/// is skipped.
private struct LikeSegment: Sendable {
    struct Piece: Sendable {
        /// The number of any characters before the literal.
        var skipped: Int
        var literal: ByteSearch
    }

    private(set) var pieces: [Piece] = []

    mutating func append(skipping skipped: Int, _ literal: [UInt8]) {
        guard skipped > 0 || !literal.isEmpty else { return }
        pieces.append(Piece(skipped: skipped, literal: ByteSearch(literal)))
    }

    /// Where an occurrence that starts at an offset ends; nil if there is none.
    func end(in text: Span<UInt8>, from start: Int, _ stepsLeft: inout Int) -> Int? {
        end(of: pieces[...], in: text, from: start, &stepsLeft)
    }

    private func end(
        of pieces: ArraySlice<Piece>, in text: Span<UInt8>, from start: Int,
        _ stepsLeft: inout Int
    ) -> Int? {
        var position = start
        for piece in pieces {
            guard let next = text.offset(after: piece.skipped, from: position) else { return nil }
            stepsLeft -= piece.skipped + piece.literal.part.count
            guard stepsLeft >= 0, piece.literal.matches(text, at: next) else { return nil }
            position = next + piece.literal.part.count
        }
        return position
    }

    /// Where an occurrence that ends at an offset starts; nil if there is none.
    func start(in text: Span<UInt8>, to end: Int, _ stepsLeft: inout Int) -> Int? {
        var position = end
        for piece in pieces.reversed() {
            position -= piece.literal.part.count
            stepsLeft -= piece.skipped + piece.literal.part.count
            guard stepsLeft >= 0, piece.literal.matches(text, at: position),
                let previous = text.offset(before: piece.skipped, from: position)
            else { return nil }
            position = previous
        }
        return position
    }

    /// Where the first occurrence from an offset on ends; nil if there is none.
    func firstEnd(
        in text: Span<UInt8>, from start: Int, _ stepsLeft: inout Int,
        _ interruption: inout Interruption
    ) -> Int? {
        guard let first = pieces.first,
            var next = text.offset(after: first.skipped, from: start)
        else { return pieces.isEmpty ? start : nil }
        while let found = first.literal.offset(in: text, from: next, &interruption) {
            let end = end(
                of: pieces.dropFirst(), in: text, from: found + first.literal.part.count,
                &stepsLeft)
            if let end { return end }
            stepsLeft -= first.literal.part.count + 1
            guard stepsLeft >= 0, found < text.count else { return nil }
            next = found + 1
        }
        return nil
    }
}

extension Span<UInt8> {
    /// The offset that many scalars after another one; nil if there are fewer.
    fileprivate func offset(after scalarCount: Int, from start: Int) -> Int? {
        var index = start
        for _ in 0..<scalarCount {
            guard index < count else { return nil }
            index += 1
            while index < count, self[index] & 0xC0 == 0x80 { index += 1 }
        }
        return index
    }

    /// The offset that many scalars before another one; nil if there are fewer.
    fileprivate func offset(before scalarCount: Int, from end: Int) -> Int? {
        var index = end
        for _ in 0..<scalarCount {
            guard index > 0 else { return nil }
            index -= 1
            while index > 0, self[index] & 0xC0 == 0x80 { index -= 1 }
        }
        return index
    }
}
