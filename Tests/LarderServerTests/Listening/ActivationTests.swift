import LarderModel
import Testing

@testable import LarderServer

@Suite("Sockets from a service manager")
struct ActivationTests {
    private func passed(
        _ environment: [String: String]
    ) throws(LarderError) -> [Activation.PassedDescriptor] {
        try Activation.passedDescriptors(in: environment, processIdentifier: 42)
    }

    @Test("descriptors from a service manager are numbered from 3 and have the announced names")
    func names() throws {
        let environment = ["LISTEN_PID": "42", "LISTEN_FDS": "3", "LISTEN_FDNAMES": "a::"]
        #expect(
            try passed(environment) == [
                .init(descriptor: 3, name: "a"), .init(descriptor: 4, name: "unknown"),
                .init(descriptor: 5, name: "unknown"),
            ])
        #expect(
            try passed(["LISTEN_PID": "42", "LISTEN_FDS": "1"]) == [
                .init(descriptor: 3, name: "unknown")
            ])
    }

    @Test(
        "descriptors for another process, and missing ones, are not taken",
        arguments: [
            [:], ["LISTEN_FDS": "1"], ["LISTEN_PID": "43", "LISTEN_FDS": "1"],
            ["LISTEN_PID": "42"], ["LISTEN_PID": "x", "LISTEN_FDS": "1"],
            ["LISTEN_PID": "42", "LISTEN_FDS": "0"],
        ])
    func others(environment: [String: String]) throws {
        #expect(try passed(environment).isEmpty)
    }

    @Test(
        "an invalid count of descriptors from a service manager is refused",
        arguments: ["-1", "65", "2147483648", "one", ""])
    func counts(count: String) {
        #expect(throws: LarderError.self) {
            try passed(["LISTEN_PID": "42", "LISTEN_FDS": count])
        }
    }
}
