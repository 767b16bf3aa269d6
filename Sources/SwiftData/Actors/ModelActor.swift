/// An actor with a context of its own. The macro `@ModelActor` makes an actor one.
public protocol ModelActor: Actor {
    nonisolated var modelContainer: ModelContainer { get }
    nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        guard let executor = modelExecutor as? any SerialModelExecutor else {
            return MainActor.sharedUnownedExecutor
        }
        return executor.asUnownedSerialExecutor()
    }

    public var modelContext: ModelContext { modelExecutor.modelContext }

    /// The model with an identifier in the actor's context; nil if it does not exist. If it
    /// cannot be read, that is an error of the context's next fetch and save.
    public subscript<T: PersistentModel>(
        id: PersistentIdentifier, as as: T.Type
    ) -> T? {
        modelContext.existingOrUnreadModel(for: id)
    }
}

/// An executor with a context.
public protocol ModelExecutor: Executor {
    var modelContext: ModelContext { get }
}

public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}
