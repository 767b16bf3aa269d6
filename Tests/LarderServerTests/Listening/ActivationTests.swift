import LarderModel
import Testing

@testable import LarderServer

@Suite("Sockets that a service manager hands over")
struct ActivationTests {
    private func promises(
        _ environment: [String: String]
    ) throws(LarderError) -> [Activation.Promise] {
        try Activation.promises(in: environment, processIdentifier: 42)
    }

    @Test("descriptors count from 3, and have the names that are given")
    func names() throws {
        let environment = ["LISTEN_PID": "42", "LISTEN_FDS": "3", "LISTEN_FDNAMES": "a::"]
        #expect(
            try promises(environment) == [
                .init(descriptor: 3, name: "a"), .init(descriptor: 4, name: "unknown"),
                .init(descriptor: 5, name: "unknown"),
            ])
        #expect(
            try promises(["LISTEN_PID": "42", "LISTEN_FDS": "1"]) == [
                .init(descriptor: 3, name: "unknown")
            ])
    }

    @Test(
        "what is meant for another process, or is not there, is not taken",
        arguments: [
            [:], ["LISTEN_FDS": "1"], ["LISTEN_PID": "43", "LISTEN_FDS": "1"],
            ["LISTEN_PID": "42"], ["LISTEN_PID": "x", "LISTEN_FDS": "1"],
            ["LISTEN_PID": "42", "LISTEN_FDS": "0"],
        ])
    func others(environment: [String: String]) throws {
        #expect(try promises(environment).isEmpty)
    }

    @Test("a count that is none is refused", arguments: ["-1", "65", "2147483648", "one", ""])
    func counts(count: String) {
        #expect(throws: LarderError.self) {
            try promises(["LISTEN_PID": "42", "LISTEN_FDS": count])
        }
    }
}
