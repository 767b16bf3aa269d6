import LarderModel
import Synchronization

/// The former schemas whose clients can use the store after migrations that only added to them.
///
/// They are parsed when a client asks for the first time; until then they cost only their texts.
final class FormerSchemas: Sendable {
    /// As canonical JSON, the latest first.
    private let texts: [String]
    private let views = Mutex<[FormerView]?>(nil)

    init(_ texts: [String]) { self.texts = texts }

    /// The view of the latest of them with a version and a fingerprint, of which an empty one is
    /// any.
    func view(version: String, fingerprint: String, of store: Store) -> FormerView? {
        if texts.isEmpty { return nil }
        let views = views.withLock { views in
            let made = views ?? texts.compactMap { FormerView($0, of: store) }
            views = made
            return made
        }
        return views.first {
            let description = $0.storeDescription
            return (version.isEmpty || version == description.schema.version)
                && (fingerprint.isEmpty || fingerprint == description.fingerprint)
        }
    }
}
