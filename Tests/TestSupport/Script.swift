/// One script, parsed from text and printed again. `ScriptTesting.swift` describes the format.
package struct Script {
    package struct Block {
        /// Blank lines and comments before the command, kept for rewriting.
        var preamble: [String]
        /// The number of the command's first line, from 1.
        package var line: Int
        package var command: String
        var expected: [String]
    }

    package var blocks: [Block] = []
    /// Blank lines and comments after the last block.
    var trailer: [String] = []
    /// `line: message` for each block without `---`.
    var errors: [String] = []

    package init(text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        var index = 0
        while index < lines.count {
            var preamble: [String] = []
            while index < lines.count, lines[index].isEmpty || lines[index].hasPrefix("#") {
                preamble.append(lines[index])
                index += 1
            }
            let end = lines[index...].firstIndex(of: "") ?? lines.count
            guard index < end else {
                trailer = preamble
                return
            }
            guard let separator = lines[index..<end].firstIndex(of: "---") else {
                errors.append("\(index + 1): the block has no `---`")
                index = end
                continue
            }
            blocks.append(
                Block(
                    preamble: preamble, line: index + 1,
                    command: lines[index..<separator].joined(separator: "\n"),
                    expected: Array(lines[(separator + 1)..<end])))
            index = end
        }
    }

    /// The text of the script with the current expected lines.
    var text: String {
        let lines = blocks.flatMap { block in
            block.preamble + [block.command, "---"] + block.expected
        }
        return (lines + trailer).joined(separator: "\n") + "\n"
    }

    /// Converts the output of a command to lines of a script.
    static func outputLines(of output: String) -> [String] {
        var lines = output.split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.isEmpty ? "\\" : String($0)
        }
        if lines.last == "\\" { lines.removeLast() }
        return lines
    }
}
