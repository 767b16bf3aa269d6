package import LarderModel

/// An encoded change set in parts, each of which fits into a frame. At most one change is encoded
/// at a time, so the memory does not grow with the set.
package struct ChangeSetParts {
    /// The length that a part has at least, unless it is the last one or ends a longer change.
    private static let fillBytes = 1 << 20
    /// The longest part. The server takes several at a time, and each takes memory there.
    package static let bytesMax = 4 << 20

    private let set: ChangeSet
    private let arena = Arena()
    private let buffer = MessageBuffer()
    private var sentByteCount = 0
    private var changeCount = 0
    private var hasOptions = false

    package init(_ set: ChangeSet) { self.set = set }

    /// The next part; nil after the last.
    ///
    /// - Throws: `invalidChangeSet` if the set has conditions, changes by predicate, versions or
    ///   base values; `resourceExhausted` for too many changes, or a value that is too long.
    package mutating func next() throws(LarderError) -> (content: [UInt8], isLast: Bool)? {
        if sentByteCount == buffer.byteCount {
            guard !hasOptions else { return nil }
            buffer.removeAll()
            sentByteCount = 0
            try fill()
        }
        let byteCount = min(buffer.byteCount - sentByteCount, Self.bytesMax)
        let content = buffer.bytes.extracting(sentByteCount..<sentByteCount + byteCount).array
        sentByteCount += byteCount
        return (content, isLast: hasOptions && sentByteCount == buffer.byteCount)
    }

    private mutating func fill() throws(LarderError) {
        while buffer.byteCount < Self.fillBytes, !hasOptions {
            if changeCount < set.changes.count {
                let change = set.changes[changeCount]
                guard change.mayBeSavedInParts else { throw .notInParts(changeCount) }
                guard changeCount < Limits.changesInPartsMax else {
                    throw .tooMany(
                        "changes", set.changes.count, maximum: Limits.changesInPartsMax)
                }
                arena.reset()
                try buffer.change(inSet: change, ProtobufWriter(arena: arena))
                changeCount += 1
            } else {
                guard set.conditions.isEmpty else { throw .notInParts(nil) }
                try buffer.options(of: set, ProtobufWriter(arena: arena))
                hasOptions = true
            }
        }
    }
}
