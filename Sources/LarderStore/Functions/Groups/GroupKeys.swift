/// Gives each combination of keys a number, from 0, in the order in which they first come.
///
/// A hash table for each key, which numbers the pairs of what stands in front and the key's value.
struct GroupKeys {
    private var levels: [GroupLevel]
    private var texts = TextNumbers()
    /// Of a single key, what came last: rows in the order of an index have it again.
    private var last: (key: GroupKey, number: Int)?

    init(count: Int) {
        levels = Array(repeating: GroupLevel(), count: count)
    }

    /// How many combinations there are.
    var count: Int { levels.last?.count ?? 0 }

    /// About what they take in memory.
    var byteCount: Int {
        levels.reduce(texts.byteCount) { $0 + $1.byteCount }
    }

    /// - Parameter first: the place of the first key among the arguments.
    mutating func number(of arguments: FunctionArguments, first: Int) -> Int {
        var number = 0
        if levels.count == 1 {
            let key = key(arguments[first])
            if let last, last.key == key { return last.number }
            number = levels[0].known(key, behind: 0) ?? levels[0].insert(key, behind: 0)
            last = (key, number)
            return number
        }
        for level in levels.indices {
            let key = key(arguments[first + level])
            number =
                levels[level].known(key, behind: number)
                ?? levels[level].insert(key, behind: number)
        }
        return number
    }

    /// A key of a combination.
    func value(of number: Int, at place: Int) -> FunctionResult {
        var entry = levels[levels.count - 1].entries[number]
        for level in levels.indices.dropLast().reversed() where level >= place {
            entry = levels[level].entries[entry.front]
        }
        switch entry.key.kind {
        case .null: return .null
        case .integer: return .integer(entry.key.word)
        case .real: return .real(Double(bitPattern: UInt64(bitPattern: entry.key.word)))
        case .text: return .text(String(decoding: texts[Int(entry.key.word)], as: UTF8.self))
        case .blob: return .blob(Array(texts[Int(entry.key.word)]))
        }
    }

    @inline(__always)
    private mutating func key(_ argument: FunctionArgument) -> GroupKey {
        switch argument.type {
        case .integer: GroupKey(kind: .integer, word: argument.int64)
        case .null: GroupKey(kind: .null, word: 0)
        // Both zeros are one.
        case .real:
            GroupKey(
                kind: .real, word: Int64(bitPattern: (argument.double + 0).bitPattern))
        case .text:
            GroupKey(kind: .text, word: Int64(argument.withBytes { texts.number(of: $0) }))
        case .blob:
            GroupKey(kind: .blob, word: Int64(argument.withBytes { texts.number(of: $0) }))
        }
    }
}

/// A key's value in a word: an integer, the bits of a double, or the number of a text or blob.
private struct GroupKey: Equatable {
    var kind: Statement.ColumnType
    var word: Int64
}

/// The values of one key, each behind the number of the keys in front of it.
private struct GroupLevel {
    struct Entry {
        var front: Int
        var key: GroupKey
    }

    private(set) var entries: [Entry] = []
    private var slots = HashSlots()

    var count: Int { entries.count }

    var byteCount: Int { entries.count * MemoryLayout<Entry>.stride + slots.byteCount }

    func known(_ key: GroupKey, behind front: Int) -> Int? {
        slots.first(slots.hash(UInt64(bitPattern: key.word), UInt64(front))) {
            entries[$0].key == key && entries[$0].front == front
        }
    }

    /// Numbers what is not known.
    mutating func insert(_ key: GroupKey, behind front: Int) -> Int {
        entries.append(Entry(front: front, key: key))
        if slots.mustGrow(for: entries.count) {
            slots.grow()
            for (number, entry) in entries.enumerated() { place(number, entry) }
        } else {
            place(entries.count - 1, Entry(front: front, key: key))
        }
        return entries.count - 1
    }

    private mutating func place(_ number: Int, _ entry: Entry) {
        slots.insert(
            number, slots.hash(UInt64(bitPattern: entry.key.word), UInt64(entry.front)))
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

    mutating func number(of bytes: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        let hash = UInt64(truncatingIfNeeded: hasher.finalize())
        if let known = slots.first(
            hash, where: { hashes[$0] == hash && self[$0].elementsEqual(bytes) })
        {
            return known
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
        return hashes.count - 1
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
