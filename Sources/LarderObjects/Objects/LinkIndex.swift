internal import LarderModel

/// The positions of the members of a list.
///
/// Each member has an ordinal. The ordinals ascend in the order of the list and have gaps, so that
/// an edit of the list changes those of the edited members only.
struct LinkIndex {
    private static let gap = 1 << 32
    private static let ordinalMax = Int.max / 2

    private var ordinals: [Int]
    private var byMember: [PersistentIdentifier: Int]

    init(_ members: [PersistentIdentifier]) {
        ordinals = members.indices.map { $0 * Self.gap }
        byMember = Dictionary(zip(members, ordinals)) { first, _ in first }
    }

    func position(of member: PersistentIdentifier) -> Int? {
        guard let ordinal = byMember[member] else { return nil }
        var (low, high) = (0, ordinals.count)
        while low < high {
            let middle = (low + high) / 2
            if ordinals[middle] < ordinal { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Replaces members as the list does.
    ///
    /// - Returns: false if there are no ordinals left between the neighbours; the index is not of
    ///   the list any more then.
    mutating func replace(
        _ range: Range<Int>, _ removed: [PersistentIdentifier],
        with added: [PersistentIdentifier]
    ) -> Bool {
        for member in removed { byMember[member] = nil }
        guard let first = firstOrdinal(in: range, count: added.count) else { return false }
        let new = added.indices.map { first.ordinal + $0 * first.step }
        for (member, ordinal) in zip(added, new) { byMember[member] = ordinal }
        if range.isEmpty, range.lowerBound == ordinals.count {
            ordinals.append(contentsOf: new)
        } else {
            ordinals.replaceSubrange(range, with: new)
        }
        return true
    }

    private func firstOrdinal(
        in range: Range<Int>, count: Int
    ) -> (ordinal: Int, step: Int)? {
        guard count > 0 else { return (0, 0) }
        let lower = range.lowerBound > 0 ? ordinals[range.lowerBound - 1] : nil
        let upper = range.upperBound < ordinals.count ? ordinals[range.upperBound] : nil
        switch (lower, upper) {
        case (nil, nil): return (0, Self.gap)
        case (let lower?, nil):
            guard lower < Self.ordinalMax - count * Self.gap else { return nil }
            return (lower + Self.gap, Self.gap)
        case (nil, let upper?):
            guard upper > -Self.ordinalMax + count * Self.gap else { return nil }
            return (upper - count * Self.gap, Self.gap)
        case (let lower?, let upper?):
            let step = (upper - lower) / (count + 1)
            return step > 0 ? (lower + step, step) : nil
        }
    }
}
