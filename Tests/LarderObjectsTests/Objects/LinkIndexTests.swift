import LarderModel
import TestSupport
import Testing

@testable import LarderObjects

@Suite("The index of a list")
struct LinkIndexTests {
    private func member(_ number: Int) -> PersistentIdentifier {
        PersistentIdentifier(temporary: "\(number)", entityName: "Note")
    }

    @Test("an index has the positions of a list after random edits")
    func random() {
        var generator = SeededGenerator.fromEnvironment("edits of an index")
        var list = (0..<50).map(member)
        var index = LinkIndex(list)
        var next = 50
        for _ in 0..<2_000 {
            let start = Int.random(in: 0...list.count, using: &generator)
            let end = min(list.count, start + Int.random(in: 0..<3, using: &generator))
            let new = (0..<Int.random(in: 0..<3, using: &generator)).map { member(next + $0) }
            next += new.count
            let removed = Array(list[start..<end])
            list.replaceSubrange(start..<end, with: new)
            if !index.replace(start..<end, removed, with: new) { index = LinkIndex(list) }
            for (position, member) in list.enumerated() where position % 7 == 0 {
                guard index.position(of: member) == position else {
                    Issue.record("LARDER_SEED=\(generator.seed)")
                    return
                }
            }
            #expect(removed.allSatisfy { index.position(of: $0) == nil })
        }
    }

    @Test("an index says when there is no room between two members")
    func room() {
        var list = [member(0), member(1)]
        var index = LinkIndex(list)
        var count = 2
        while index.replace(1..<1, [], with: [member(count)]) {
            list.insert(member(count), at: 1)
            count += 1
            #expect(index.position(of: list[2]) == 2)
        }
        #expect(count > 20)
        #expect(LinkIndex(list).position(of: member(1)) == list.count - 1)
    }

    @Test("members are added at both ends of an index for as long as it has ordinals")
    func ends() {
        var index = LinkIndex([])
        for number in 0..<1_000 {
            let isFirst = index.replace(0..<0, [], with: [member(-number)])
            let end = 2 * number + 1
            let isLast = index.replace(end..<end, [], with: [member(number + 1)])
            #expect(isFirst && isLast)
        }
        #expect(index.position(of: member(-999)) == 0)
        #expect(index.position(of: member(1_000)) == 1_999)
        #expect(index.position(of: member(5_000)) == nil)
    }
}
