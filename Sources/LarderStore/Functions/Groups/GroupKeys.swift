/// Numbers the combinations of keys, from 0, in the order of their first occurrence.
///
/// Each key has a hash table, which numbers the pairs of the preceding keys' number and its value.
struct GroupKeys: ~Copyable {
    /// The table of the last key.
    private var last = GroupLevel()
    /// The tables of the keys before it.
    private var levels: [GroupLevel]
    private var texts = TextNumbers()

    init(count: Int) {
        keyCount = count
        levels = Array(repeating: GroupLevel(), count: max(0, count - 1))
    }

    /// The number of keys of a combination.
    let keyCount: Int

    /// The approximate size in memory.
    var byteCount: Int {
        levels.reduce(last.byteCount + texts.byteCount) { $0 + $1.byteCount }
    }

    /// - Parameter first: The index of the first key among the arguments.
    @inline(__always)
    mutating func number(of arguments: FunctionArguments, first: Int) -> Int {
        let prefix = levels.isEmpty ? 0 : prefix(of: arguments, first: first)
        return last.number(
            of: GroupKey(arguments[first + levels.count], after: prefix, &texts))
    }

    /// The number of the keys before the last one.
    @inline(never)
    private mutating func prefix(of arguments: FunctionArguments, first: Int) -> Int {
        var number = 0
        for level in levels.indices {
            number = levels[level].number(
                of: GroupKey(arguments[first + level], after: number, &texts))
        }
        return number
    }

    /// The number of a combination of other keys.
    mutating func number(of combination: Int, in other: borrowing GroupKeys) -> Int {
        var number = 0
        for level in levels.indices {
            let key = GroupKey(
                other.key(of: combination, at: level), of: other.texts, after: number, &texts)
            number = levels[level].number(of: key)
        }
        return last.number(
            of: GroupKey(other.last.keys[combination], of: other.texts, after: number, &texts))
    }

    private func key(of number: Int, at index: Int) -> GroupKey {
        var key = last.keys[number]
        for level in levels.indices.reversed() where level >= index {
            key = levels[level].keys[key.prefix]
        }
        return key
    }

    /// A key of a combination.
    func value(of number: Int, at index: Int) -> FunctionResult {
        let key = key(of: number, at: index)
        switch key.kind {
        case .null: return .null
        case .integer: return .integer(key.word)
        case .real: return .real(Double(bitPattern: UInt64(bitPattern: key.word)))
        case .text: return .text(String(decoding: texts[Int(key.word)], as: UTF8.self))
        case .blob: return .blob(Array(texts[Int(key.word)]))
        }
    }
}

/// A key's value with the number of the keys before it, in two words.
private struct GroupKey: Equatable {
    enum Kind: Int { case integer, real, text, blob, null }

    /// An integer, the bits of a double, or the number of a text or blob.
    let word: Int64
    /// The number of the keys before it, and the kind of the value.
    private let tag: Int

    var kind: Kind { Kind(rawValue: tag & 7) ?? .null }
    var prefix: Int { tag >> 3 }

    private init(_ kind: Kind, _ word: Int64, after prefix: Int) {
        self.word = word
        tag = prefix << 3 | kind.rawValue
    }

    @inline(__always)
    init(_ argument: FunctionArgument, after prefix: Int, _ texts: inout TextNumbers) {
        self =
            argument.isInteger
            ? GroupKey(.integer, argument.int64, after: prefix)
            : GroupKey(other: argument, after: prefix, &texts)
    }

    @inline(never)
    private init(
        other argument: FunctionArgument, after prefix: Int, _ texts: inout TextNumbers
    ) {
        switch argument.type {
        case .integer: self.init(.integer, argument.int64, after: prefix)
        case .null: self.init(.null, 0, after: prefix)
        case .real:
            // Both zeros are equal.
            let bits = (argument.double + 0).bitPattern
            self.init(.real, Int64(bitPattern: bits), after: prefix)
        case .text:
            self.init(.text, argument.withBytes { texts.number(of: $0) }, after: prefix)
        case .blob:
            self.init(.blob, argument.withBytes { texts.number(of: $0) }, after: prefix)
        }
    }

    /// A key of another table, whose texts have other numbers.
    init(
        _ key: GroupKey, of otherTexts: TextNumbers, after prefix: Int, _ texts: inout TextNumbers
    ) {
        switch key.kind {
        case .text, .blob:
            let number = otherTexts[Int(key.word)].withUnsafeBytes { texts.number(of: $0) }
            self.init(key.kind, number, after: prefix)
        case .null, .integer, .real: self.init(key.kind, key.word, after: prefix)
        }
    }

    func hash(_ slots: HashSlots) -> UInt64 {
        slots.hash(UInt64(bitPattern: word), UInt64(truncatingIfNeeded: tag))
    }
}

/// The values of one key, each with the number of the keys before it.
private struct GroupLevel {
    private(set) var keys: [GroupKey] = []
    private var slots = HashSlots()

    var byteCount: Int { keys.count * MemoryLayout<GroupKey>.stride + slots.byteCount }

    @inline(__always)
    mutating func number(of key: GroupKey) -> Int {
        slots.first(key.hash(slots)) { keys[$0] == key } ?? insert(key)
    }

    /// Numbers a new key.
    @inline(never)
    private mutating func insert(_ key: GroupKey) -> Int {
        keys.append(key)
        if slots.mustGrow(for: keys.count) {
            slots.grow()
            for (number, key) in keys.enumerated() { slots.insert(number, key.hash(slots)) }
        } else {
            slots.insert(keys.count - 1, key.hash(slots))
        }
        return keys.count - 1
    }
}

/// Texts and blobs, numbered from 0.
private struct TextNumbers {
    private var heap: [UInt8] = []
    private var ends: [Int] = []
    private var hashes: [UInt64] = []
    private var slots = HashSlots()

    var byteCount: Int { heap.count + ends.count * 16 + slots.byteCount }

    subscript(number: Int) -> ArraySlice<UInt8> {
        heap[(number == 0 ? 0 : ends[number - 1])..<ends[number]]
    }

    mutating func number(of bytes: UnsafeRawBufferPointer) -> Int64 {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        let hash = UInt64(truncatingIfNeeded: hasher.finalize())
        if let existing = slots.first(
            hash, where: { hashes[$0] == hash && self[$0].elementsEqual(bytes) })
        {
            return Int64(existing)
        }
        heap.append(contentsOf: bytes)
        ends.append(heap.count)
        hashes.append(hash)
        if slots.mustGrow(for: hashes.count) {
            slots.grow()
            for (number, hash) in hashes.enumerated() { slots.insert(number, hash) }
        } else {
            slots.insert(hashes.count - 1, hash)
        }
        return Int64(hashes.count - 1)
    }
}

/// The slots of a hash table with linear probing, each the number of an entry.
private struct HashSlots {
    private var slots = [Int32](repeating: -1, count: 64)
    /// An odd random number per table, so that no client can choose values that collide.
    private let factor = UInt64.random(in: 0 ... .max) | 1

    var byteCount: Int { slots.count * MemoryLayout<Int32>.stride }

    func hash(_ word: UInt64, _ tag: UInt64) -> UInt64 {
        let (high, low) = (word &+ tag &* 0x9E37_79B9_7F4A_7C15)
            .multipliedFullWidth(by: factor)
        return high ^ low
    }

    /// The number of an entry with this hash for which the condition holds.
    @inline(__always)
    func first(_ hash: UInt64, where isEqual: (Int) -> Bool) -> Int? {
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] >= 0 {
            let number = Int(slots[slot])
            if isEqual(number) { return number }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// At most half of the slots are used.
    func mustGrow(for count: Int) -> Bool { count * 2 > slots.count }

    /// Twice as many slots, all empty.
    mutating func grow() { slots = [Int32](repeating: -1, count: slots.count * 2) }

    mutating func insert(_ number: Int, _ hash: UInt64) {
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = Int32(number)
    }
}
