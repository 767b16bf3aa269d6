extension String {
    /// A long text of one ASCII character. A debug build makes it much faster from bytes than from
    /// characters.
    init(repeatingByteOf character: Character, count: Int) {
        let bytes = [UInt8](repeating: character.asciiValue ?? 0, count: count)
        self.init(decoding: bytes, as: UTF8.self)
    }
}
