import Dispatch

/// The executor of model actors: the main actor's for the main context, else a queue of its own.
///
/// Sendable unchecked: the context is used by the actor's jobs only, one after the other.
public class DefaultSerialModelExecutor: @unchecked Sendable, SerialModelExecutor {
    public final let modelContext: ModelContext
    private let queue: DispatchQueue

    public init(modelContext: ModelContext) {
        self.modelContext = modelContext
        queue =
            modelContext.isMain
            ? .main : DispatchQueue(label: "SwiftData.ModelActor", qos: .userInitiated)
        modelContext.home.move(to: queue)
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }
}
