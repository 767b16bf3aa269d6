public import Foundation
public import SwiftData

/// The containers of a program, and where its handlers come from.
public final class DataProvider: Sendable {
    public static let shared = DataProvider()

    public let sharedModelContainer: ModelContainer = {
        let schema = Schema(CurrentScheme.models)
        let configuration = ModelConfiguration(schema: schema, isStoredInMemoryOnly: false)
        do {
            return try ModelContainer(for: schema, configurations: [configuration])
        } catch {
            preconditionFailure("the store cannot be opened: \(error)")
        }
    }()

    public let previewContainer: ModelContainer = {
        let schema = Schema(CurrentScheme.models)
        let configuration = ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)
        do {
            return try ModelContainer(for: schema, configurations: [configuration])
        } catch {
            preconditionFailure("a store in memory cannot be made: \(error)")
        }
    }()

    public init() {}

    /// A function that makes a handler for one piece of work, off the main actor.
    public func dataHandlerCreator(preview: Bool = false) -> @Sendable () async -> DataHandler {
        let container = preview ? previewContainer : sharedModelContainer
        return { DataHandler(modelContainer: container) }
    }

    /// The form for the main actor's context.
    public func dataHandlerWithMainContextCreator(
        preview: Bool = false
    ) -> @Sendable @MainActor () async -> DataHandler {
        let container = preview ? previewContainer : sharedModelContainer
        return { DataHandler(modelContainer: container, mainActor: true) }
    }

    /// A container on a file of the caller's, for tests and for programs that share a store.
    public static func container(at url: URL) throws -> ModelContainer {
        let schema = Schema(CurrentScheme.models)
        return try ModelContainer(
            for: schema, configurations: [ModelConfiguration(schema: schema, url: url)])
    }
}
