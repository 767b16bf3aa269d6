internal import FoundationEssentials
internal import LarderModel

// What saves came to is packed by hand: the fields are those of `SaveReply`, the last one first.

extension SaveResult {
    var packedByteCount: Int {
        var count = FieldWriter.byteCount(ofNumber: UInt64(bitPattern: deletedCount))
        count += FieldWriter.byteCount(ofNumber: UInt64(bitPattern: transaction ?? 0))
        for identifier in inserted {
            count += FieldWriter.byteCount(ofMessage: identifier.packedByteCount)
        }
        count += FieldWriter.byteCount(
            ofBytes: updatedVersions.reduce(0) {
                $0 + FieldWriter.byteCount(UInt64(bitPattern: $1))
            })
        count += FieldWriter.byteCount(
            ofBytes: merged.reduce(0) { $0 + FieldWriter.byteCount(UInt64(clamping: $1)) })
        for affected in affected {
            count += FieldWriter.byteCount(ofMessage: affected.packedByteCount)
        }
        return count
    }

    func pack(into writer: inout FieldWriter) {
        for affected in affected.reversed() {
            let end = writer.freeByteCount
            affected.pack(into: &writer)
            writer.endMessage(6, end - writer.freeByteCount)
        }
        writer.number(5, UInt64(bitPattern: transaction ?? 0))
        writer.numbers(4, merged.lazy.map { UInt64(clamping: $0) })
        writer.number(3, UInt64(bitPattern: deletedCount))
        writer.numbers(2, updatedVersions.lazy.map { UInt64(bitPattern: $0) })
        writer.identifiers(1, inserted)
    }
}

extension AffectedObjects {
    fileprivate var packedByteCount: Int {
        identifiers.reduce(FieldWriter.byteCount(ofNumber: UInt64(bitPattern: count))) {
            $0 + FieldWriter.byteCount(ofMessage: $1.packedByteCount)
        }
    }

    fileprivate func pack(into writer: inout FieldWriter) {
        writer.identifiers(2, identifiers)
        writer.number(1, UInt64(bitPattern: count))
    }
}

extension PersistentIdentifier {
    fileprivate var packedByteCount: Int {
        let name =
            switch key {
            case .permanent(let key): FieldWriter.byteCount(ofNumber: UInt64(bitPattern: key))
            case .temporary(let name): FieldWriter.byteCount(ofMessage: name.utf8.count)
            }
        return (store == nil ? 0 : FieldWriter.byteCount(ofBytes: 16))
            + FieldWriter.byteCount(ofBytes: entityName.utf8.count) + name
    }

    fileprivate func pack(into writer: inout FieldWriter) {
        switch key {
        case .permanent(let key): writer.number(3, UInt64(bitPattern: key))
        case .temporary(let name): writer.text(always: 4, name)
        }
        writer.text(2, entityName)
        if let store { withUnsafeBytes(of: store.uuid) { writer.bytes(1, $0) } }
    }
}

extension FieldWriter {
    fileprivate mutating func identifiers(_ field: UInt8, _ identifiers: [PersistentIdentifier]) {
        for identifier in identifiers.reversed() {
            let end = freeByteCount
            identifier.pack(into: &self)
            endMessage(field, end - freeByteCount)
        }
    }

    /// Packed numbers of variable length.
    fileprivate mutating func numbers(
        _ field: UInt8, _ numbers: some BidirectionalCollection<UInt64>
    ) {
        guard !numbers.isEmpty else { return }
        let end = freeByteCount
        for number in numbers.reversed() { put(number) }
        endMessage(field, end - freeByteCount)
    }
}
