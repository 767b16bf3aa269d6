public import Foundation
internal import LarderModel
internal import LarderObjects
internal import Synchronization

extension ModelContainer {
    /// Posted after each commit of any context of any process in a store of the container, with
    /// the container as its object, on a thread of its own.
    ///
    /// Its `userInfo` has the keys ``storeIdentifierKey``, ``storeURLKey`` and ``historyTokenKey``.
    /// A store that a program writes itself has the first one only, and its notifications are those
    /// of the container's own contexts.
    public static let remoteChange = Notification.Name("NSPersistentStoreRemoteChangeNotification")

    /// The identifier of the store, a `String`.
    public static let storeIdentifierKey = "NSStoreUUID"
    /// The `URL` of the store's configuration.
    public static let storeURLKey = "storeURL"
    /// The position after the transaction in the store, a ``DefaultHistoryToken``.
    public static let historyTokenKey = "historyToken"
}

/// The commits of all clients in the stores of a container.
final class StoreCommits: Sendable {
    private let observations = Mutex<[any AnyObject & Sendable]>([])

    /// Posts the notifications of all containers in order, so that no observer of one runs on a
    /// thread that saves.
    private static let queue = DispatchQueue(label: "SwiftData.RemoteChange")

    init() {}

    /// Posts ``ModelContainer/remoteChange`` while the core exists.
    ///
    /// - Parameter places: The stores with the URL of their configurations; nil for stores that a
    ///   program writes itself.
    func post(of core: ContainerCore, _ places: [(store: any ObjectStore, url: URL?)]) {
        for (store, url) in places {
            let observation = store.observeCommits { [weak core] transaction in
                guard let core else { return }
                let token = transaction.token
                if url != nil { core.history.learn(token) }
                Self.queue.async { [weak core] in
                    guard let container = core?.existingContainer else { return }
                    Self.post(token, url, container)
                }
            }
            observations.withLock { $0.append(observation) }
        }
    }

    private static func post(
        _ token: LarderModel.HistoryToken, _ url: URL?, _ container: ModelContainer
    ) {
        let name = StoreIdentifiers.shared.text(of: token.store)
        var info: [String: Any] = [ModelContainer.storeIdentifierKey: name]
        if let url {
            info[ModelContainer.storeURLKey] = url
            info[ModelContainer.historyTokenKey] = DefaultHistoryToken(
                numbers: [name: token.number], epochs: [name: token.epoch])
        }
        NotificationCenter.default.post(
            name: ModelContainer.remoteChange, object: container, userInfo: info)
    }
}
