import TestSupport

extension Fuzzing {
    /// A text with a few of its scalars removed, duplicated, swapped or replaced.
    static func mutated(
        _ text: String, alphabet: [Unicode.Scalar], using generator: inout SeededGenerator
    ) -> String {
        var scalars = Array(text.unicodeScalars)
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            let place = Int.random(in: 0...scalars.count, using: &generator)
            let other = Int.random(in: 0...scalars.count, using: &generator)
            let scalar = alphabet.randomElement(using: &generator) ?? "x"
            switch Int.random(in: 0..<5, using: &generator) {
            case 0 where place < scalars.count: scalars.remove(at: place)
            case 1 where place < scalars.count: scalars[place] = scalar
            case 2 where place < other: scalars.removeSubrange(place..<other)
            case 3 where place < other && other - place < 200:
                scalars.insert(contentsOf: scalars[place..<other], at: place)
            default: scalars.insert(scalar, at: place)
            }
        }
        var mutated = String.UnicodeScalarView()
        mutated.append(contentsOf: scalars)
        return String(mutated)
    }

    /// Characters that often break parsers.
    static let alphabet = Array(
        "abpt019_-+.,:;/%\\\"'(){}[]<>=!@#$&|* \n\r\t\u{0}\u{301}\u{200D}é日🏳️‍🌈eExXnNuU"
            .unicodeScalars
    )
}
