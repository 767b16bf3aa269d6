internal import CoreDataPredicates
public import Foundation
internal import LarderModel
internal import Synchronization

/// A fetch that a context makes later, on its queue.
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
    public let fetchRequest: NSFetchRequest<ResultType>
    /// Called on the queue of the context with the result.
    public let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
    /// The number of results that the program expects, for the progress.
    open var estimatedResultCount = 0

    public init(
        fetchRequest request: NSFetchRequest<ResultType>,
        completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
    ) {
        fetchRequest = request
        completionBlock = blk
    }

    /// Begins the fetch, and returns a result that gets its objects later.
    override func execute(
        in context: NSManagedObjectContext
    ) throws(LarderError) -> NSPersistentStoreResult {
        let result = NSAsynchronousFetchResult(self, context)
        context.contextQueue.async { result.run() }
        return result
    }
}

/// The result of a request that is executed later.
///
/// Sendable unchecked: what changes is under a lock, or is used on the queue of the context.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
    public let managedObjectContext: NSManagedObjectContext
    /// The progress, which is finished when the completion block is called.
    public let progress: Progress?
    /// Why there is no result.
    public var operationError: (any Error)? { failure.withLock { $0 } }

    let isCancelled = Atomic(false)
    let failure = Mutex<(any Error)?>(nil)

    init(_ context: NSManagedObjectContext, unitCount: Int64) {
        managedObjectContext = context
        progress = Progress(totalUnitCount: unitCount)
    }

    /// Ends the request without a result, if it was not executed yet. The completion block is
    /// called with an error.
    open func cancel() {
        isCancelled.store(true, ordering: .relaxed)
        progress?.cancel()
    }
}

/// The result of an asynchronous fetch.
///
/// Sendable unchecked: as its superclass.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult,
    @unchecked Sendable
{
    public let fetchRequest: NSAsynchronousFetchRequest<ResultType>
    /// The objects; nil before the fetch, and after an error.
    open private(set) var finalResult: [ResultType]?

    init(_ request: NSAsynchronousFetchRequest<ResultType>, _ context: NSManagedObjectContext) {
        fetchRequest = request
        super.init(context, unitCount: Int64(clamping: max(1, request.estimatedResultCount)))
    }

    /// Called on the queue of the context.
    fileprivate func run() {
        do {
            if isCancelled.load(ordering: .relaxed) || progress?.isCancelled == true {
                throw NSError.coreData(LarderError(.cancelled, "the request was cancelled"))
            }
            finalResult = try managedObjectContext.fetch(fetchRequest.fetchRequest)
        } catch {
            failure.withLock { $0 = error }
        }
        progress?.completedUnitCount = progress?.totalUnitCount ?? 0
        fetchRequest.completionBlock?(self)
        managedObjectContext.eventDidEnd()
    }
}
