import FoundationEssentials
import Glibc

/// A process that ends with the bench.
///
/// Protected by its measure, which uses it from one thread.
final class Program: @unchecked Sendable {
    let identifier: pid_t
    private var hasEnded = false

    /// - Parameter descriptors: The process's descriptors 0, 1, 2, …; nil is /dev/null, and the
    ///   process inherits those of 0 to 2 that are missing.
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

    /// Asks the process to terminate, and waits for it.
    func end() {
        guard !hasEnded else { return }
        kill(identifier, SIGTERM)
        _ = finish()
    }

    /// Waits for the process to end without a signal.
    ///
    /// - Returns: the exit status, or the number of the signal that ended it.
    func finish() -> Int32 {
        hasEnded = true
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7f == 0 ? status >> 8 & 0xff : status & 0x7f
    }

    /// The memory of the process, from /proc/PID/smaps_rollup.
    func memory() throws -> Memory {
        let text = try String(
            contentsOfFile: "/proc/\(identifier)/smaps_rollup", encoding: .utf8)
        var sizes: [Substring: Double] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(whereSeparator: \.isWhitespace)
            if words.count == 3 { sizes[words[0]] = Double(words[1]) }
        }
        guard let resident = sizes["Rss:"], let clean = sizes["Private_Clean:"],
            let dirty = sizes["Private_Dirty:"]
        else { throw Problem("/proc/\(identifier)/smaps_rollup has no sizes") }
        return Memory(privateKibibytes: clean + dirty, residentKibibytes: resident)
    }

    struct Memory {
        /// Pages that no other process maps: Private_Clean and Private_Dirty.
        var privateKibibytes: Double
        /// All pages that are in memory, those shared with other processes included.
        var residentKibibytes: Double
    }
}

/// A peer's program or a load generator: reads one command per line, and answers each with a line
/// of numbers.
///
/// Protected by its measure, which uses it from one thread at a time.
final class Peer: @unchecked Sendable {
    let program: Program
    private let input: Int32
    private let output: UnsafeMutablePointer<FILE>

    init(_ path: String, _ arguments: [String]) throws {
        var commands: [Int32] = [-1, -1]
        var answers: [Int32] = [-1, -1]
        guard pipe(&commands) == 0, pipe(&answers) == 0,
            let output = fdopen(answers[0], "r")
        else { throw Problem("a pipe cannot be created") }
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

    /// Sends a command whose answer is "value checksum".
    func sample(_ command: String) throws -> Sample {
        let words = try answer(command)
        guard words.count == 2, let value = Double(words[0]), let checksum = Int64(words[1]) else {
            throw Problem("a peer answers `\(command)` with \(words.joined(separator: " "))")
        }
        return Sample(value: value, checksum: checksum)
    }

    /// Sends a command whose answer is this number of values.
    func values(_ command: String, count: Int) throws -> [Double] {
        let words = try answer(command)
        let values = words.compactMap { Double($0) }
        guard values.count == count, words.count == count else {
            throw Problem("a peer answers `\(command)` with \(words.joined(separator: " "))")
        }
        return values
    }

    private func answer(_ command: String) throws -> [String] {
        let line = Array((command + "\n").utf8)
        guard write(input, line, line.count) == line.count else {
            throw Problem("a peer has ended before `\(command)`")
        }
        guard let words = nextLine() else { throw Problem("a peer has ended in `\(command)`") }
        return words
    }

    /// The words of the next line that the program prints, of up to 199 bytes; nil at the end.
    func nextLine() -> [String]? {
        var buffer = [CChar](repeating: 0, count: 200)
        guard fgets(&buffer, 200, output) != nil else { return nil }
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .map(String.init)
    }
}
