import TestSupport
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("a set of keys")
struct KeySetTests {
    @Test("a set of keys has the elements of a set, in order")
    func random() {
        var random = SeededGenerator.fromEnvironment("sets of keys")
        for _ in 0..<20 {
            var (keys, model) = (KeySet(), Set<Int64>())
            for _ in 0..<500 {
                let key = Int64.random(in: 1...400, using: &random)
                if Bool.random(using: &random) {
                    #expect(keys.insert(key) == model.insert(key).inserted)
                } else {
                    keys.remove(key)
                    model.remove(key)
                }
            }
            #expect(keys.keys == model.sorted())
            #expect((1...400).allSatisfy { keys.contains($0) == model.contains($0) })
        }
        var ends = KeySet()
        for key in [Int64.max, 64, 63, 1] { ends.insert(key) }
        #expect(ends.keys == [1, 63, 64, .max])
    }

    @Test("a set of keys has runs up to the greatest key")
    func greatestKey() {
        var changes = ObjectChanges(lastKeys: [.max])
        for key in [Int64.max - 1, .max] {
            changes.update(ObjectKey(entity: 0, key: key), .attribute(0))
        }
        #expect(changes.runs.map(\.first) == [.max - 1] && changes.runs.map(\.last) == [.max])
    }

    @Test("changed objects with the same properties are combined into runs, in any order")
    func runs() {
        var random = SeededGenerator.fromEnvironment("runs of changes")
        for _ in 0..<20 {
            var changes = ObjectChanges(lastKeys: [200])
            var model: [Int64: Set<StoredEntity.Property>] = [:]
            for _ in 0..<30 {
                let first = Int64.random(in: 1...200, using: &random)
                let last = min(200, first + Int64.random(in: 0...90, using: &random))
                let place = StoredEntity.Property.attribute(Int.random(in: 0..<3, using: &random))
                for key in first...last {
                    changes.update(ObjectKey(entity: 0, key: key), place)
                    model[key, default: []].insert(place)
                }
            }
            var unrolled: [Int64: Set<StoredEntity.Property>] = [:]
            let runs = changes.runs
            for run in runs {
                for key in run.first...run.last { unrolled[key] = Set(run.properties) }
            }
            #expect(unrolled == model)
            for (run, next) in zip(runs, runs.dropFirst()) {
                #expect(run.last < next.first)
                #expect(run.last + 1 < next.first || run.properties != next.properties)
            }
        }
    }
}
