extension Unicode.Scalar {
    /// Scalars by which functions of texts are tried: all, but of the large blocks whose scalars
    /// are alike every hundredth.
    public static let tried: [Unicode.Scalar] = {
        // Ideographs, syllables of Hangul, Tangut, and what is for private use or not assigned.
        let alike: [ClosedRange<UInt32>] = [
            0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3, 0xE000...0xF8FF, 0x17000...0x18AFF,
            0x20000...0x2F7FF, 0x2FA20...0xDFFFF, 0xE01F0...0x10FFFF,
        ]
        return (UInt32(0)...0x10FFFF).lazy
            .filter { value in
                value.isMultiple(of: 100) || !alike.contains { $0.contains(value) }
            }
            .compactMap(Unicode.Scalar.init)
    }()
}
