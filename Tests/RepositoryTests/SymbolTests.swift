import FoundationEssentials
import Testing

@Suite("The symbols of SwiftData")
struct SymbolTests {
    @Test("each symbol that works is used in a test, and no other has an unknown state")
    func symbols() throws {
        let code = try Repository.files(under: ["Tests/SwiftDataTests"], endings: [".swift"])
            .flatMap(\.lines).joined(separator: "\n")
        let words = Set(code.split { !$0.isLetter && !$0.isNumber && $0 != "_" })
        var count = 0
        for line in try Repository.read("docs/swiftdata.md").lines {
            guard let match = line.wholeMatch(of: /\| `([^`]+)` \| (.+) \|/) else { continue }
            let state = match.2
            let isKnown = ["works", "accepted", "no effect: ", "missing: "].contains {
                state.hasPrefix($0)
            }
            #expect(isKnown, "\(match.1): \(state)")
            guard state == "works" else { continue }
            count += 1
            for name in match.1.split(whereSeparator: { ".@#".contains($0) }) {
                #expect(words.contains(name), "no test uses \(match.1)")
            }
        }
        #expect(count > 40)
    }
}
