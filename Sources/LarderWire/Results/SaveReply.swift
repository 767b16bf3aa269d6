internal import LarderModel

// The messages `SaveReply` and `AffectedObjects`, coded by hand: each save has one.

extension Reply {
    /// The message `SaveReply`.
    static func saved(decoding bytes: RawSpan) throws(LarderError) -> Reply {
        var (partCount, more): (Int64, Bool) = (0, false)
        let result = try SaveResult(decoding: bytes, &partCount, &more)
        return more ? .savedPart(result, partCount: partCount) : .saved(result)
    }
}

extension SaveResult {
    fileprivate init(
        decoding bytes: RawSpan, _ partCount: inout Int64, _ more: inout Bool
    ) throws(LarderError) {
        self.init()
        var fields = FieldScanner(bytes)
        inserted.reserveCapacity(
            try fields.count(of: 1, "inserted objects", maximum: Limits.changesMax))
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)):
                inserted.append(try PersistentIdentifier(decoding: bytes))
            case (2, let content):
                try content.forEachNumber { updatedVersions.append(Int64(bitPattern: $0)) }
            case (3, .number(let number)):
                deletedCount = try Int64(count: number, "deleted objects")
            case (4, let content):
                try content.forEachNumber { merged.append(Int(UInt32(truncatingIfNeeded: $0))) }
            case (5, .number(let number)):
                transaction = number == 0 ? nil : Int64(bitPattern: number)
            case (6, .bytes(let bytes)):
                guard affected.count < Limits.changesMax else {
                    throw .tooMany(
                        "affected objects", affected.count + 1, maximum: Limits.changesMax)
                }
                affected.append(try AffectedObjects(decoding: bytes))
            case (7, let content):
                try content.forEachNumber { upserted.append(Int(UInt32(truncatingIfNeeded: $0))) }
            case (8, .number(let number)): partCount = try Int64(count: number, "parts")
            case (9, .number(let number)): more = number != 0
            case (1...9, _): throw .unreadable
            default: break
            }
        }
    }
}

extension AffectedObjects {
    fileprivate init(decoding bytes: RawSpan) throws(LarderError) {
        self.init(count: 0)
        var fields = FieldScanner(bytes)
        identifiers.reserveCapacity(
            try fields.count(of: 2, "affected objects", maximum: Limits.affectedIdentifiersMax))
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .number(let number)):
                count = try Int64(count: number, "affected objects")
            case (2, .bytes(let bytes)):
                identifiers.append(try PersistentIdentifier(decoding: bytes))
            case (1...2, _): throw .unreadable
            default: break
            }
        }
    }
}

extension MessageBuffer {
    func saveResult(
        _ result: SaveResult, partCount: Int64 = 0, more: Bool = false
    ) throws(LarderError) {
        for identifier in result.inserted { try self.identifier(1, identifier) }
        try numbers(2, result.updatedVersions.lazy.map { UInt64(bitPattern: $0) })
        number(3, UInt64(bitPattern: result.deletedCount))
        try numbers(4, result.merged.lazy.map { UInt64(UInt32(clamping: $0)) })
        number(5, UInt64(bitPattern: result.transaction ?? 0))
        for affected in result.affected {
            try message(6) { () throws(LarderError) in
                number(1, UInt64(bitPattern: affected.count))
                for identifier in affected.identifiers { try self.identifier(2, identifier) }
            }
        }
        try numbers(7, result.upserted.lazy.map { UInt64(UInt32(clamping: $0)) })
        number(8, UInt64(bitPattern: partCount))
        bool(9, more)
    }
}
