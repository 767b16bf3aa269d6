/// The text of one script, taken apart and put together again. The format is described in
/// `ScriptTesting.swift`.
struct Script {
    struct Block {
        /// Blank lines and comments in front of the command, kept for rewriting.
        var preamble: [String]
        /// The number of the command's first line, from 1.
        var line: Int
        var command: String
        var expected: [String]
    }

    var blocks: [Block] = []
    /// Blank lines and comments after the last block.
    var trailer: [String] = []
    /// `line: sentence` for blocks without `---`.
    var faults: [String] = []

    init(text: String) {
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
            guard let rule = lines[index..<end].firstIndex(of: "---") else {
                faults.append("\(index + 1): a block without `---`")
                index = end
                continue
            }
            blocks.append(
                Block(
                    preamble: preamble, line: index + 1,
                    command: lines[index..<rule].joined(separator: "\n"),
                    expected: Array(lines[(rule + 1)..<end])))
            index = end
        }
    }

    /// The script with the expected lines as they are now.
    var text: String {
        let lines = blocks.flatMap { block in
            block.preamble + [block.command, "---"] + block.expected
        }
        return (lines + trailer).joined(separator: "\n") + "\n"
    }

    /// What a command printed, as the lines that a script would hold.
    static func outputLines(of output: String) -> [String] {
        var lines = output.split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.isEmpty ? "\\" : String($0)
        }
        if lines.last == "\\" { lines.removeLast() }
        return lines
    }
}
