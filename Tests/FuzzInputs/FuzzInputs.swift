import CLibFuzzer
import Glibc
import InputFuzzing

/// The program of `scripts/fuzz`: runs libFuzzer with one kind of input.
///
///     FuzzInputs --kind=KIND [OPTION…] FOLDER…   fuzzes, beginning with the inputs in the folders
///     FuzzInputs --kind=KIND FILE…               handles each file once
///
/// libFuzzer ignores words that begin with `--`, and passes them to the processes that it starts.
@main enum FuzzInputs {
    private static let option = "--kind="
    /// libFuzzer calls a C function, which has no context. Only the main thread uses it.
    nonisolated(unsafe) private static var input: (any FuzzedInput)?

    static func main() throws {
        let kind = CommandLine.arguments.first { $0.hasPrefix(option) }?.dropFirst(option.count)
        input = try FuzzedInputs.input(named: String(kind ?? ""))
        guard input != nil else {
            print("usage: scripts/fuzz \(FuzzedInputs.names.joined(separator: "|"))")
            exit(64)
        }
        var count = CommandLine.argc
        var words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        let status = runLibFuzzer(&count, &words) { start, count in
            FuzzInputs.handle(Array(UnsafeBufferPointer(start: start, count: count)))
            return 0
        }
        exit(status)
    }

    private static func handle(_ bytes: [UInt8]) {
        guard let fault = input?.fault(of: bytes) else { return }
        // libFuzzer stores the input of a process that aborts.
        print(fault)
        fflush(nil)
        abort()
    }
}
