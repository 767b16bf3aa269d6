/// Keys of objects of one entity, one bit for each key. Adjacent keys take 16 bytes for 64 keys.
struct KeySet {
    /// Bits by word number, which is the key divided by 64.
    private var words: [Int64: UInt64] = [:]

    var isEmpty: Bool { words.isEmpty }

    func contains(_ key: Int64) -> Bool { word(key >> 6) & Self.bit(key) != 0 }

    /// Returns false if the key was in the set already.
    @discardableResult
    mutating func insert(_ key: Int64) -> Bool {
        Self.insert(Self.bit(key), into: &words[key >> 6, default: 0])
    }

    mutating func remove(_ key: Int64) {
        guard let before = words[key >> 6] else { return }
        let after = before & ~Self.bit(key)
        words[key >> 6] = after == 0 ? nil : after
    }

    /// The bits of 64 keys, the lowest key in the lowest bit.
    func word(_ number: Int64) -> UInt64 { words[number] ?? 0 }

    /// The numbers of the words that have keys, ascending.
    var wordNumbers: [Int64] { words.keys.sorted() }

    /// Ascending.
    var keys: [Int64] {
        wordNumbers.flatMap { number in
            let word = word(number)
            return (0..<64).filter { word >> $0 & 1 != 0 }.map { number << 6 + $0 }
        }
    }

    /// Visits all keys, in no particular order.
    func forEach(_ body: (Int64) -> Void) {
        for (number, word) in words {
            var rest = word
            while rest != 0 {
                body(number << 6 + Int64(rest.trailingZeroBitCount))
                rest &= rest - 1
            }
        }
    }

    private static func insert(_ bit: UInt64, into word: inout UInt64) -> Bool {
        defer { word |= bit }
        return word & bit == 0
    }

    private static func bit(_ key: Int64) -> UInt64 { 1 << UInt64(key & 63) }
}

/// Keys of objects of all entities of a schema.
struct ObjectSet {
    /// By entity; entities without keys at the end are missing.
    private var entities: [KeySet] = []
    private(set) var count = 0

    /// Whether no object was ever inserted.
    var isEmpty: Bool { entities.isEmpty }

    subscript(entity: Int) -> KeySet { entity < entities.count ? entities[entity] : KeySet() }

    func contains(_ object: ObjectKey) -> Bool {
        object.entity < entities.count && entities[object.entity].contains(object.key)
    }

    /// Returns false if the object was in the set already.
    @discardableResult
    mutating func insert(_ object: ObjectKey) -> Bool {
        while entities.count <= object.entity { entities.append(KeySet()) }
        guard entities[object.entity].insert(object.key) else { return false }
        count += 1
        return true
    }

    /// Visits the keys, in no particular order. Keys of several entities may be equal.
    func forEach(_ body: (Int64) -> Void) {
        for keys in entities { keys.forEach(body) }
    }

    mutating func remove(_ object: ObjectKey) {
        guard contains(object) else { return }
        count -= 1
        entities[object.entity].remove(object.key)
    }
}
