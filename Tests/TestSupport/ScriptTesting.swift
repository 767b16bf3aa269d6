import FoundationEssentials

// Runs golden scripts: text files that hold what is done and what must come of it.
//
// A script is a file `<name>.script` of blocks, separated by a blank line:
//
//     # A comment: ignored, between blocks or in front of a block's first line.
//     one or more lines
//     of command
//     ---
//     the expected output,
//     line by line
//
// The command is handed to the test as one string. What it returns is compared with the expected
// lines; an error that it throws is output too, by its description. A line of output that is empty
// is written as a single backslash, because a blank line ends the block. No output at all is a
// block that ends with `---`. With LARDER_REWRITE=1 in the environment the expected lines are
// replaced by the actual ones, and comments stay. A script without a block is a failure, and so is
// a folder without a script.

/// Runs each script of a folder; blocks of all of them go to the same closure.
///
/// - Parameters:
///   - directory: a folder below the nearest `Scripts` folder above the calling test's file.
///   - run: performs a block's command and returns what it prints.
/// - Throws: ``ScriptFailure`` with each difference of each script, or an error of reading.
public func runScripts(
    in directory: String, filePath: String = #filePath, run: @escaping (String) throws -> String
) throws {
    try runScripts(in: directory, filePath: filePath, makeRun: { run })
}

/// Runs each script of a folder with a closure of its own, so that each begins with a fresh state.
public func runScripts(
    in directory: String, filePath: String = #filePath,
    makeRun: () throws -> (String) throws -> String
) throws {
    let folder = try scriptFolder(directory, above: filePath)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { $0.hasSuffix(".script") }.sorted()
    var failures = names.isEmpty ? ["\(folder): no script in this folder"] : []
    let rewrites = ProcessInfo.processInfo.environment["LARDER_REWRITE"] == "1"
    for name in names {
        let path = "\(folder)/\(name)"
        let run = try makeRun()
        var script = Script(text: try String(contentsOfFile: path, encoding: .utf8))
        if script.blocks.isEmpty { failures.append("\(path): no block in this script") }
        failures += script.faults.map { "\(path):\($0)" }
        for index in script.blocks.indices {
            let block = script.blocks[index]
            let actual = Script.outputLines(of: output(of: block.command, run))
            guard actual != block.expected else { continue }
            if rewrites {
                script.blocks[index].expected = actual
            } else {
                let difference = lineDifference(from: block.expected, to: actual)
                failures.append("\(path):\(block.line): \(block.command)\n\(difference)")
            }
        }
        if rewrites { try script.text.write(toFile: path, atomically: true, encoding: .utf8) }
    }
    guard failures.isEmpty else { throw ScriptFailure(failures: failures) }
}

/// What did not come out as the scripts say.
public struct ScriptFailure: Error, CustomStringConvertible {
    /// `path:line: command`, then the difference: `-` expected, `+` actual.
    public let failures: [String]

    public var description: String {
        "\(failures.count) differences (LARDER_REWRITE=1 accepts them)\n"
            + failures.joined(separator: "\n")
    }
}

private func output(of command: String, _ run: (String) throws -> String) -> String {
    do { return try run(command) } catch { return "\(error)" }
}

private func scriptFolder(_ directory: String, above filePath: String) throws -> String {
    var parts = filePath.split(separator: "/", omittingEmptySubsequences: false)
    while parts.popLast() != nil {
        let folder = parts.joined(separator: "/") + "/Scripts/" + directory
        if FileManager.default.fileExists(atPath: folder) { return folder }
    }
    throw ScriptFailure(failures: ["no folder Scripts/\(directory) above \(filePath)"])
}

/// Both texts line by line, what is only in the first marked `-`, only in the second `+`.
private func lineDifference(from expected: [String], to actual: [String]) -> String {
    let difference = actual.difference(from: expected)
    let removed = Set(
        difference.removals.map { if case .remove(let offset, _, _) = $0 { offset } else { -1 } })
    let inserted = Set(
        difference.insertions.map { if case .insert(let offset, _, _) = $0 { offset } else { -1 } })
    var lines: [String] = []
    var before = 0
    var after = 0
    while before < expected.count || after < actual.count {
        if removed.contains(before) {
            lines.append("    - \(expected[before])")
            before += 1
        } else if inserted.contains(after) {
            lines.append("    + \(actual[after])")
            after += 1
        } else {
            lines.append("      \(expected[before])")
            before += 1
            after += 1
        }
    }
    return lines.joined(separator: "\n")
}
