import FoundationEssentials
import Glibc

/// A process that ends with the bench.
///
/// Protected by its measure, which uses it from one thread.
final class Program: @unchecked Sendable {
    let identifier: pid_t
    private var hasEnded = false

    /// - Parameter descriptors: what the process has as its descriptors 0, 1, 2, …; nil is
    ///   /dev/null, and what is left out of 0 to 2 is the bench's own.
    init(
        _ path: String, _ arguments: [String], descriptors: [Int32?] = [nil],
        environment: [String: String] = [:]
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in descriptors.enumerated() {
            if let descriptor {
                posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
            } else {
                posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
            }
        }
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let argumentTexts = ([path] + arguments).map { strdup($0) } + [nil]
        let variableTexts = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in argumentTexts + variableTexts { free(text) } }
        var identifier = pid_t()
        guard posix_spawn(&identifier, path, &actions, nil, argumentTexts, variableTexts) == 0
        else { throw Problem("\(path) cannot be started; run scripts/bench") }
        self.identifier = identifier
    }

    deinit { end() }

    /// Ends the process in order, and waits for it.
    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        kill(identifier, SIGTERM)
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
    }

    /// Waits for the process to end by itself.
    ///
    /// - Returns: the exit status, or the number of the signal that ended it.
    func finish() -> Int32 {
        hasEnded = true
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7f == 0 ? status >> 8 & 0xff : status & 0x7f
    }

    /// What of its memory is resident, in KiB.
    func residentKibibytes() throws -> Double {
        let text = try String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let words = line?.split(whereSeparator: \.isWhitespace), words.count > 1,
            let size = Double(words[1])
        else { throw Problem("the system does not say how large larderd is") }
        return size
    }
}

/// A peer's program: takes a command a line, and answers each with a line, "value checksum".
final class Peer {
    let program: Program
    private let input: Int32
    private let output: UnsafeMutablePointer<FILE>

    init(_ path: String, _ arguments: [String]) throws {
        var commands: [Int32] = [-1, -1]
        var answers: [Int32] = [-1, -1]
        guard pipe(&commands) == 0, pipe(&answers) == 0,
            let output = fdopen(answers[0], "r")
        else { throw Problem("the system gives no pipe") }
        for end in commands + answers { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer {
            close(commands[0])
            close(answers[1])
        }
        program = try Program(path, arguments, descriptors: [commands[0], answers[1]])
        input = commands[1]
        self.output = output
    }

    deinit {
        close(input)
        fclose(output)
    }

    func ask(_ command: String) throws -> Sample {
        let line = Array((command + "\n").utf8)
        guard write(input, line, line.count) == line.count else {
            throw Problem("a peer has ended before `\(command)`")
        }
        var buffer = [CChar](repeating: 0, count: 200)
        guard fgets(&buffer, 200, output) != nil else {
            throw Problem("a peer has ended in `\(command)`")
        }
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let value = Double(words[0]), let checksum = Int64(words[1]) else {
            throw Problem("a peer answers `\(command)` by \(words.joined(separator: " "))")
        }
        return Sample(value: value, checksum: checksum)
    }
}
