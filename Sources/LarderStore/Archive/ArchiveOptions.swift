/// How the changes of a store are archived, so that any earlier state can be restored.
public struct ArchiveOptions: Hashable, Sendable {
    /// The folder of the archive, which exists.
    public var folder: String
    /// How often changes are archived if there are any.
    public var interval: Duration
    /// States that are older may be deleted; nil keeps all.
    public var ageMax: Duration?
    /// If the archive has more bytes, its oldest states are deleted; nil keeps all.
    public var bytesMax: Int64?
    /// A program that is called for each finished file, to copy it elsewhere; nil for none.
    public var command: String?

    public init(
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

/// What the administrator of an archive should know.
public struct ArchiveEvent: Hashable, Sendable {
    /// Whether changes are not archived now.
    public var isFailure: Bool
    public var message: String
}
