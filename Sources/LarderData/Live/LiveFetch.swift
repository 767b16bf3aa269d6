internal import LarderObjects
public import SwiftData

/// The values of the models that match a fetch, and the new ones after each change: of the context,
/// or a commit of any context in any process.
///
/// It belongs to the actor of its context, and fetches there, in the task that iterates it. The
/// first result is that of the fetch; a result that is as before is left out, and a slow reader
/// receives the newest one only. It ends when the task is cancelled, and with an error of a fetch.
/// It keeps its context.
public struct LiveFetch<Model: PersistentModel, Value: Equatable & Sendable>: AsyncSequence {
    public typealias Element = FetchedValues<Value>
    public typealias Failure = any Error

    let context: ModelContext
    let descriptor: FetchDescriptor<Model>
    let convert: (Model) -> Value?

    public func makeAsyncIterator() -> Iterator { Iterator(fetch: self) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let fetch: LiveFetch
        private var changes: ContextChanges?
        private var last: FetchedValues<Value>?
        private var hasEnded = false

        fileprivate init(fetch: LiveFetch) { self.fetch = fetch }

        public mutating func next() async throws -> FetchedValues<Value>? {
            try await next(isolation: nil)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws -> FetchedValues<Value>? {
            do {
                while !hasEnded {
                    if changes == nil {
                        // Changes after this are announced, so the first result misses none.
                        changes = ContextChanges(fetch.context)
                    } else if await changes?.next(isolation: actor) == nil {
                        break
                    }
                    if Task.isCancelled { break }
                    if let new = try result() { return new }
                }
            } catch {
                end()
                throw error
            }
            end()
            return nil
        }

        /// Nil if the result is as before.
        private mutating func result() throws -> FetchedValues<Value>? {
            let rows = try fetch.context.fetch(fetch.descriptor).compactMap { model in
                fetch.convert(model).map { (identifier: model.persistentModelID, value: $0) }
            }
            let new = FetchedValues(rows, after: last)
            if let last, last.hasSameRows(as: new) { return nil }
            last = new
            return new
        }

        private mutating func end() {
            hasEnded = true
            changes = nil
        }
    }
}

// A sequence belongs to the actor of its context, so passing it to another one is an error.
@available(*, unavailable)
extension LiveFetch: Sendable {}

@available(*, unavailable)
extension LiveFetch.Iterator: Sendable {}

/// The changes that may concern what a context shows. Those that nobody has waited for are one.
private struct ContextChanges {
    private let observations: [any AnyObject & Sendable]
    private var signals: AsyncStream<Void>.Iterator

    init(_ context: ModelContext) {
        let (stream, continuation) = AsyncStream<Void>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        // Values may depend on any object along relationships, so every commit counts.
        observations =
            [context.observeChanges { continuation.yield() }]
            + context.objects.model.allStores.map { store in
                store.observeCommits { _ in continuation.yield() }
            }
        signals = stream.makeAsyncIterator()
    }

    /// Nil after the task was cancelled.
    mutating func next(isolation actor: isolated (any Actor)?) async -> Void? {
        await signals.next(isolation: actor)
    }
}
