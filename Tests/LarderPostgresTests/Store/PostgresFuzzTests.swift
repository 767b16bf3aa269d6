#if PostgreSQL
import LarderModel
import LarderPostgres
import LarderQuery
import TestSupport
import Testing

@testable import QueryFuzzing

@Suite(
    "Random queries in PostgreSQL",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.notInstalled)))
struct PostgresFuzzTests {
    @Test("SQLite and PostgreSQL select the same objects in the same order")
    func queries() throws {
        var random = SeededGenerator.fromEnvironment("queries in PostgreSQL")
        var (compared, selective, refused) = (0, 0, 0)
        for _ in 0..<40 where compared < 400 {
            var fuzzer = try QueryFuzzer(SeededGenerator(seed: random.next()))
            guard let store = try? StoreInPostgres.new(fuzzer.store.schema) else { continue }
            let writer = try store.makeWriter()
            let insertion = FuzzedStore.insertion(of: fuzzer.store.drafts, fuzzer.store.schema)
            guard case .success? = writer.save([insertion]).first else { continue }
            let reader = try store.makeReader()
            for _ in 0..<100 {
                let query = fuzzer.query()
                let expected = fuzzer.store.selected(query)
                let actual = Self.selected(query, store, reader)
                if actual == .refused(.unsupported) {
                    refused += 1
                    continue
                }
                // Its objects are of the store in memory.
                guard actual != .refused(.foreignIdentifier) else { continue }
                guard !expected.dependsOnOrder, !actual.dependsOnOrder else { continue }
                compared += 1
                if case .keys(let keys) = expected, !keys.isEmpty { selective += 1 }
                #expect(actual == expected, "\(query) \(fuzzer.store.sql(of: query))")
            }
        }
        #expect(compared > 100 && selective > 20, "\(compared) \(selective) \(refused)")
    }

    private static func selected(
        _ query: QueryCase, _ store: PostgresStore, _ reader: any StoreReader
    ) -> QueryOutcome {
        do {
            let plan = try store.plan(.fetch(query.fetch), query.parameters)
            let cursor = try reader.open(plan, query.parameters, budget: ReadBudget())
            defer { cursor.close() }
            var keys: [Int64] = []
            while true {
                let (batch, isLast) = try cursor.next(bytesMax: 1_000, budget: ReadBudget())
                keys += batch.identity?.keys ?? []
                if isLast { return .keys(keys) }
            }
        } catch let error as LarderError {
            return .refused(error.code)
        } catch ReadFailure.failed(let error) {
            return .refused(error.code)
        } catch {
            return .refused(.storageFailed)
        }
    }
}
#endif
