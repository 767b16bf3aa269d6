/// How the changes of a store are archived, so that any earlier state can be restored.
package struct ArchiveOptions: Hashable, Sendable {
    /// The folder of the archive, which exists.
    package var folder: String
    /// How often changes are archived if there are any.
    package var interval: Duration
    /// States that are older may be deleted; nil keeps all.
    package var ageMax: Duration?
    /// If the archive has more bytes, its oldest states are deleted; nil keeps all.
    package var bytesMax: Int64?
    /// A program that is called for each finished file, to copy it elsewhere; nil for none.
    package var command: String?
    /// A new base is made when the segments since the last one have as many bytes as that base,
    /// and at least this many.
    var baseBytesMin: Int64 = 64 << 20

    package init(
        folder: String, interval: Duration = .seconds(10), ageMax: Duration? = nil,
        bytesMax: Int64? = nil, command: String? = nil
    ) {
        self.folder = folder
        self.interval = interval
        self.ageMax = ageMax
        self.bytesMax = bytesMax
        self.command = command
    }
}

/// A message for the administrator of an archive.
package struct ArchiveEvent: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case information
        /// Something does not work, and is repeated until it works.
        case failure
        /// A failure is over.
        case recovery
    }

    package var kind: Kind
    /// One sentence without a final period.
    package var message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
