import LarderModel
import LarderQuery
import LarderWire

/// Runs a query on a reader of the pool, and says what each stage took: `explain --analyze`.
///
/// The rows are encoded as for a reply, and not sent. The times are those of this run; that the
/// data was in memory, or the statement in the cache, is part of it.
struct QueryAnalysis: Sendable {
    private let request: QueryRequest
    private let view: any StoreView
    private let batchBytesMax: Int

    init(_ request: QueryRequest, view: any StoreView, limits: ServerLimits) {
        self.request = request
        self.view = view
        batchBytesMax = limits.batchBytesMax
    }

    /// The costs of the run so far.
    private struct Totals {
        var planning = Duration.zero
        var conversion = Duration.zero
        var reading = Duration.zero
        var encoding = Duration.zero
        var batches = 0
        var rows = 0
        var bytes = 0
    }

    func run(on reader: any StoreReader, budget: ReadBudget) throws(ReadFailure) -> Explanation {
        var totals = Totals()
        var start = ContinuousClock.now
        let plan: any QueryPlan
        do throws(LarderError) {
            plan = try view.plan(try request.shape.decoded(), request.parameters)
        } catch {
            throw .failed(error)
        }
        totals.planning = .now - start
        start = .now
        let cursor = try reader.open(plan, request.parameters, budget: budget)
        totals.conversion = .now - start
        do throws(ReadFailure) {
            try read(cursor, &totals, budget)
        } catch {
            cursor.close()
            throw error
        }
        cursor.close()
        let work = cursor.work
        var explanation = try reader.explain(plan, request.parameters, budget: budget)
        explanation.execution = Self.statistics(totals, work)
        return explanation
    }

    private func read(
        _ cursor: any ResultCursor, _ totals: inout Totals, _ budget: ReadBudget
    ) throws(ReadFailure) {
        while true {
            let start = ContinuousClock.now
            let (batch, isLast) = try cursor.next(bytesMax: batchBytesMax, budget: budget)
            let end = ContinuousClock.now
            totals.reading += end - start
            totals.bytes += EncodedBatches(encoding: [batch]).byteCount
            totals.encoding += .now - end
            totals.batches += 1
            totals.rows += batch.rowCount
            if isLast { return }
        }
    }

    /// `reading` has the steps of SQLite, its waits for the disk, and the decoding of rows, lists
    /// and prefetched objects.
    private static func statistics(_ totals: Totals, _ work: ReadWork) -> [Statistic] {
        let reading = max(.zero, totals.reading - work.preparation)
        let all =
            totals.planning + totals.conversion + totals.reading + totals.encoding
        return [
            Statistic("rows", .int(Int64(totals.rows))),
            Statistic("bytes", .int(Int64(totals.bytes))),
            Statistic("batches", .int(Int64(totals.batches))),
            Statistic("scannedRows", .int(work.scannedRows)),
            Statistic("sorts", .int(work.sorts)),
            Statistic("automaticIndexRows", .int(work.automaticIndexRows)),
            Statistic("statements", .int(work.statements)),
            Statistic("steps", .int(work.steps)),
            Statistic("planningTime", milliseconds(totals.planning)),
            Statistic("conversionTime", milliseconds(totals.conversion)),
            Statistic("preparationTime", milliseconds(work.preparation)),
            Statistic("readingTime", milliseconds(reading)),
            Statistic("encodingTime", milliseconds(totals.encoding)),
            Statistic("time", milliseconds(all)),
        ]
    }

    private static func milliseconds(_ time: Duration) -> Value {
        .double((time / .milliseconds(1) * 1_000).rounded() / 1_000)
    }
}
