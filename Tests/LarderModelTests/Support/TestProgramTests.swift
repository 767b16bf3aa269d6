import TestSupport
import Testing

@Suite("Programs that tests start")
struct TestProgramTests {
    @Test("a program that a test cannot start is an error that says how to build it")
    func missing() throws {
        let error = try #require(
            #expect(throws: TestProgram.Missing.self) {
                try TestProgram.path(of: "larderd", in: "/nowhere")
            })
        #expect(
            error.description
                == "the program larderd is not in /nowhere; `swift build` builds it")
        #expect(throws: TestProgram.Missing.self) { try TestProgram.path(of: "none") }
    }

    @Test("a program that tests start is found in the given folder")
    func given() throws {
        #expect(try TestProgram.path(of: "sh", in: "/bin") == "/bin/sh")
    }
}
