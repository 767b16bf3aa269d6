public import Foundation
internal import LarderModel
internal import LarderObjects
internal import Synchronization

extension ModelContainer {
    /// Posted after each commit of any context of any process in a store of the container, with
    /// the container as its object, on a thread of its own.
    ///
    /// Its `userInfo` has the keys ``storeIdentifierKey``, ``storeURLKey`` and ``historyTokenKey``.
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
    func post(of core: ContainerCore, _ places: [(store: any ObjectStore, url: URL)]) {
        for (store, url) in places {
            let observation = store.observeCommits { [weak core] transaction in
                guard let core else { return }
                let token = transaction.token
                core.history.learn(token)
                Self.queue.async { [weak core] in
                    guard let container = core?.existingContainer else { return }
                    Self.post(token, url, container)
                }
            }
            observations.withLock { $0.append(observation) }
        }
    }

    private static func post(
        _ token: LarderModel.HistoryToken, _ url: URL, _ container: ModelContainer
    ) {
        let name = token.store.uuidString
        let position = DefaultHistoryToken(
            numbers: [name: token.number], epochs: [name: token.epoch])
        NotificationCenter.default.post(
            name: ModelContainer.remoteChange, object: container,
            userInfo: [
                ModelContainer.storeIdentifierKey: name,
                ModelContainer.storeURLKey: url,
                ModelContainer.historyTokenKey: position,
            ])
    }
}
