internal import LarderModel
internal import Synchronization

/// Saves the main context after the current turn of the main actor.
final class Autosaver: Sendable {
    private let isScheduled = Atomic(false)

    /// Sendable unchecked: the context is used on the main actor only.
    private struct MainContext: @unchecked Sendable { weak var context: ModelContext? }

    func schedule(_ context: ModelContext) {
        guard !isScheduled.exchange(true, ordering: .relaxed) else { return }
        let main = MainContext(context: context)
        Task { @MainActor [self] in
            isScheduled.store(false, ordering: .relaxed)
            guard let context = main.context, context.autosaveEnabled else { return }
            do {
                try context.save()
            } catch {
                context.core.log(
                    "the main context was not saved: \(String(safelyDescribing: error))")
            }
        }
    }
}
