import Testing

@Suite("The generated C is current")
struct GeneratedCodeTests {
    @Test("the committed C is what protoc-c makes of the committed Proto")
    func isCurrent() {
        #expect(Scripts.run("scripts/generate-proto", ["--check"]) == 0)
    }

    @Test("a wrong option is a usage error")
    func usage() {
        #expect(Scripts.run("scripts/generate-proto", ["--chekc"]) == 64)
    }
}
