// Upper bounds of the encoded size of results, so that a writer can refuse a change set before its
// commit if the client could not receive the result. LarderWireTests compares them with the
// encoder.

/// The parts of an encoded result that do not depend on names.
private enum EncodedBytes {
    /// Tags and lengths of an identifier, its store and its key.
    static let identifier = 40
    static let number = 10
    /// Everything that a reply has once, with its envelope.
    static let reply = 96
}

extension SaveResult {
    /// At least the number of bytes of the reply with the result.
    package var encodedBytesMax: Int {
        // Usually all names are short enough for the first, cheaper bound.
        var count = EncodedBytes.reply
        count += EncodedBytes.number * numberCount
        count += Self.encodedBytesMax(inserted)
        for objects in affected {
            count += 2 * EncodedBytes.number + Self.encodedBytesMax(objects.identifiers)
        }
        return count
    }

    /// Whether the result has at most a number of bytes. It costs nothing for a small result.
    package func fits(inBytes maximum: Int) -> Bool {
        let identifiers = affected.reduce(inserted.count) { $0 + $1.identifiers.count }
        let roughly =
            EncodedBytes.reply + EncodedBytes.number * numberCount
            + 2 * EncodedBytes.number * affected.count
            + (EncodedBytes.identifier + Limits.nameBytesMax) * identifiers
        return roughly <= maximum || encodedBytesMax <= maximum
    }

    /// The number of numbers in its lists.
    private var numberCount: Int { updatedVersions.count + merged.count + upserted.count }

    private static func encodedBytesMax(_ identifiers: [PersistentIdentifier]) -> Int {
        identifiers.reduce(0) { $0 + EncodedBytes.identifier + $1.entityName.utf8.count }
    }
}

extension InsertedRows {
    /// At least the number of bytes of the reply with the result.
    package var encodedBytesMax: Int {
        EncodedBytes.reply + 2 * EncodedBytes.number * keys.count
    }
}

extension LarderError {
    /// The error of a write whose result would be too long to send.
    package static let answerTooLong = LarderError(
        .resourceExhausted, "the reply would be longer than a frame; nothing was changed",
        hint: "divide the changes into several change sets")
}
