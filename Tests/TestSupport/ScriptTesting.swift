import FoundationEssentials

// Runs golden scripts: text files with commands and their expected output.
//
// A script is a file `<name>.script`. Its blocks are separated by blank lines:
//
//     # A comment between blocks, or before the first line of a block.
//     one or more lines
//     of command
//     ---
//     the expected output,
//     line by line
//
// The test gets the command as one string, and its result is compared with the expected lines. If
// it throws, the description of the error is the output. An empty line of output is written as a
// single backslash, because a blank line ends the block. If there is no output, the block ends with
// `---`. With LARDER_REWRITE=1 in the environment, the expected lines are replaced by the actual
// ones; comments are kept. A script without blocks and a folder without scripts are failures.

/// Runs each script of a folder. All scripts share one closure.
///
/// - Parameters:
///   - directory: A folder in the nearest `Scripts` folder above the file of the calling test.
///   - run: Runs the command of a block and returns its output.
/// - Throws: ``ScriptFailure`` with all differences, or an error of reading a script.
public func runScripts(
    in directory: String, filePath: String = #filePath, run: @escaping (String) throws -> String
) throws {
    try runScripts(in: directory, filePath: filePath, makeRun: { run })
}

/// Runs each script of a folder with a new closure, so that each begins with a new state.
public func runScripts(
    in directory: String, filePath: String = #filePath,
    makeRun: () throws -> (String) throws -> String
) throws {
    let folder = try scriptFolder(directory, above: filePath)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { $0.hasSuffix(".script") }.sorted()
    var failures = names.isEmpty ? ["\(folder): the folder has no scripts"] : []
    let rewrites = ProcessInfo.processInfo.environment["LARDER_REWRITE"] == "1"
    for name in names {
        let path = "\(folder)/\(name)"
        let run = try makeRun()
        var script = Script(text: try String(contentsOfFile: path, encoding: .utf8))
        if script.blocks.isEmpty { failures.append("\(path): the script has no blocks") }
        failures += script.errors.map { "\(path):\($0)" }
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

/// The differences between the expected and the actual output of scripts.
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

/// A line-by-line difference: `-` marks lines of the first text only, `+` of the second only.
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
