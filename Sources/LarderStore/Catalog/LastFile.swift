import LarderModel

/// The file in which a store was last opened for writing, as its catalog records it.
///
/// A copy of a store has the identifier of the original, and the record of the original's file. So
/// a copy is recognized, and so is a store that was moved to another file system or restored.
/// Inodes and paths identify the file, but not devices: their numbers change when a file system is
/// mounted again. See `docs/decisions/0028-copies-of-a-store.md`.
struct LastFile: Equatable {
    let inode: UInt64
    /// Absolute and without links.
    let path: String

    /// The file that a connection has open.
    init(_ connection: Connection, _ file: WatchedFile) {
        inode = file.identity.inode
        path = connection.path
    }

    /// - Returns: nil if the text is damaged. It is then replaced.
    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let inode = UInt64(parts[0]) else { return nil }
        self.inode = inode
        path = String(parts[1])
    }

    var text: String { "\(inode) \(path)" }

    enum Comparison: Equatable {
        /// The store is in its file, which may have been renamed.
        case same
        /// The store was in another file, which is not there any more.
        case replaced
        /// The store was in another file, which is still there.
        case copied
    }

    /// Compares the record with the file that is open now.
    func comparison(with current: LastFile, _ file: WatchedFile) -> Comparison {
        if let original = WatchedFile(at: path), original.identity != file.identity,
            original.identity.inode == inode
        {
            return .copied
        }
        return inode == current.inode ? .same : .replaced
    }
}

extension LastFile.Comparison {
    /// A warning for the administrator; nil if there is none.
    func warning(_ path: String, from last: LastFile) -> String? {
        let advice = "larder new-identity FILE"
        return switch self {
        case .same: nil
        case .replaced:
            "\(path) is another file than the one that this store was last opened in "
                + "(\(last.path)); if both are used, give the copy a new identity: \(advice)"
        case .copied:
            "\(path) is a copy of \(last.path) and has the same identity, so that identifiers of "
                + "one are accepted by the other; give the copy a new identity: \(advice)"
        }
    }
}
