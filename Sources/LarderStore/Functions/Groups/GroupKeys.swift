/// Gives each combination of keys a number, from 0, in the order in which they first come.
///
/// A hash table for each key, which numbers the pairs of what stands in front and the key's value.
struct GroupKeys: ~Copyable {
    /// Of the last key, or the only one.
    private var last = GroupLevel()
    /// Of those in front of it.
    private var levels: [GroupLevel]
    private var texts = TextNumbers()

    init(count: Int) {
        keyCount = count
        levels = Array(repeating: GroupLevel(), count: max(0, count - 1))
    }

    /// How many keys make a combination.
    let keyCount: Int

    /// About what they take in memory.
    var byteCount: Int {
        levels.reduce(last.byteCount + texts.byteCount) { $0 + $1.byteCount }
    }

    /// - Parameter first: the place of the first key among the arguments.
    @inline(__always)
    mutating func number(of arguments: FunctionArguments, first: Int) -> Int {
        let front = levels.isEmpty ? 0 : front(of: arguments, first: first)
        return last.number(
            of: GroupKey(arguments[first + levels.count], behind: front, &texts))
    }

    /// The number of what stands in front of the last key.
    @inline(never)
    private mutating func front(of arguments: FunctionArguments, first: Int) -> Int {
        var number = 0
        for level in levels.indices {
            number = levels[level].number(
                of: GroupKey(arguments[first + level], behind: number, &texts))
        }
        return number
    }

    /// A key of a combination.
    func value(of number: Int, at place: Int) -> FunctionResult {
        var key = last.keys[number]
        for level in levels.indices.reversed() where level >= place {
            key = levels[level].keys[key.front]
        }
        switch key.kind {
        case .null: return .null
        case .integer: return .integer(key.word)
        case .real: return .real(Double(bitPattern: UInt64(bitPattern: key.word)))
        case .text: return .text(String(decoding: texts[Int(key.word)], as: UTF8.self))
        case .blob: return .blob(Array(texts[Int(key.word)]))
        }
    }
}

/// A key's value behind the number of the keys in front of it, in two words.
private struct GroupKey: Equatable {
    enum Kind: Int { case integer, real, text, blob, null }

    /// An integer, the bits of a double, or the number of a text or blob.
    let word: Int64
    /// The number in front and the kind of value.
    private let tag: Int

    var kind: Kind { Kind(rawValue: tag & 7) ?? .null }
    var front: Int { tag >> 3 }

    private init(_ kind: Kind, _ word: Int64, behind front: Int) {
        self.word = word
        tag = front << 3 | kind.rawValue
    }

    @inline(__always)
    init(_ argument: FunctionArgument, behind front: Int, _ texts: inout TextNumbers) {
        self =
            argument.isInteger
            ? GroupKey(.integer, argument.int64, behind: front)
            : GroupKey(other: argument, behind: front, &texts)
    }

    @inline(never)
    private init(
        other argument: FunctionArgument, behind front: Int, _ texts: inout TextNumbers
    ) {
        switch argument.type {
        case .integer: self.init(.integer, argument.int64, behind: front)
        case .null: self.init(.null, 0, behind: front)
        case .real:
            // Both zeros are one.
            let bits = (argument.double + 0).bitPattern
            self.init(.real, Int64(bitPattern: bits), behind: front)
        case .text:
            self.init(.text, argument.withBytes { texts.number(of: $0) }, behind: front)
        case .blob:
            self.init(.blob, argument.withBytes { texts.number(of: $0) }, behind: front)
        }
    }

    func hash(_ slots: HashSlots) -> UInt64 {
        slots.hash(UInt64(bitPattern: word), UInt64(truncatingIfNeeded: tag))
    }
}

/// The values of one key, each behind the number of the keys in front of it.
private struct GroupLevel {
    private(set) var keys: [GroupKey] = []
    private var slots = HashSlots()

    var byteCount: Int { keys.count * MemoryLayout<GroupKey>.stride + slots.byteCount }

    @inline(__always)
    mutating func number(of key: GroupKey) -> Int {
        slots.first(key.hash(slots)) { keys[$0] == key } ?? insert(key)
    }

    /// Numbers what is not known.
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
        if let known = slots.first(
            hash, where: { hashes[$0] == hash && self[$0].elementsEqual(bytes) })
        {
            return Int64(known)
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
    /// Odd, and another in each table, so that nobody can choose values that collide.
    private let factor = UInt64.random(in: 0 ... .max) | 1

    var byteCount: Int { slots.count * MemoryLayout<Int32>.stride }

    func hash(_ word: UInt64, _ front: UInt64) -> UInt64 {
        let (high, low) = (word &+ front &* 0x9E37_79B9_7F4A_7C15)
            .multipliedFullWidth(by: factor)
        return high ^ low
    }

    /// The number of an entry with this hash for which the condition holds.
    @inline(__always)
    func first(_ hash: UInt64, where isRight: (Int) -> Bool) -> Int? {
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] >= 0 {
            let number = Int(slots[slot])
            if isRight(number) { return number }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// At most half of the slots are taken.
    func mustGrow(for count: Int) -> Bool { count * 2 > slots.count }

    /// Twice as many slots, all empty.
    mutating func grow() { slots = [Int32](repeating: -1, count: slots.count * 2) }

    mutating func insert(_ number: Int, _ hash: UInt64) {
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = Int32(number)
    }
}
