public import LarderModel
public import Observation

/// The rows of a live query for code that observes properties, such as a user interface.
///
/// It belongs to the actor on which it is created, and changes there alone. It ends when it is
/// released.
@Observable
public final class ObservedRows {
    /// The rows of the last result; none before the first.
    public private(set) var rows: [Record] = []
    /// The sections of the rows; none if the query is observed without sections.
    public private(set) var sections: [LiveResult.Section] = []
    /// The last result with its differences; nil before the first.
    public private(set) var result: LiveResult?
    /// Why there are no more results.
    public private(set) var error: LarderError?
    @ObservationIgnored private let results: LiveResults

    /// - Parameter isolation: The actor to which the object belongs: that of the caller.
    public init(_ results: LiveResults, isolation: isolated (any Actor)? = #isolation) {
        self.results = results
        Task { [weak self] in
            _ = isolation
            do throws(LarderError) {
                while let result = try await results.next() { self?.show(result) }
            } catch {
                self?.error = error
            }
        }
    }

    deinit { results.cancel() }

    private func show(_ result: LiveResult) {
        self.result = result
        rows = result.rows
        sections = result.sections
    }
}

/// An object for code that observes properties. It belongs to the actor on which it is created, and
/// changes there alone. It ends when it is released.
@Observable
public final class ObservedObject {
    /// The last values of the object; nil before the first.
    public private(set) var record: Record?
    /// Whether the object is deleted; ``record`` has its last values then.
    public private(set) var isDeleted = false
    /// Why there are no more values.
    public private(set) var error: LarderError?
    @ObservationIgnored private let objects: LiveObjects

    /// - Parameter isolation: The actor to which the object belongs: that of the caller.
    public init(_ objects: LiveObjects, isolation: isolated (any Actor)? = #isolation) {
        self.objects = objects
        Task { [weak self] in
            _ = isolation
            do throws(LarderError) {
                while let object = try await objects.next() { self?.show(object) }
            } catch {
                self?.error = error
            }
        }
    }

    deinit { objects.cancel() }

    private func show(_ object: LiveObject) {
        record = object.record
        isDeleted = object.isDeleted
    }
}
