import ArgumentParser
import LarderModel
import LarderPrograms

/// Completes the word before the cursor of `larder shell`, by what ArgumentParser knows of the
/// commands and by the functions that complete arguments in other shells.
struct ShellCompletion: Sendable {
    private let arguments: [String]

    /// - Parameter connection: The store that the lines are about.
    init(connection: ConnectionOptions) {
        arguments = connection.store.map { ["--store", $0] } ?? []
    }

    /// - Parameters:
    ///   - line: The text up to the cursor.
    ///   - word: The end of the line after the last white space, which is replaced.
    func completion(of line: String, word: String) -> LineEditor.Completion {
        let parsed = ShellWords(line)
        var words = parsed.words
        var last = ""
        let isSpace = line.last.map { $0 == " " || $0 == "\t" } ?? true
        if parsed.endsInExpression {
            last = (words.popLast() ?? "") + (isSpace ? " " : "")
        } else if !isSpace || parsed.isUnfinished {
            last = words.popLast() ?? ""
        }
        guard let candidates = candidates(for: last, after: words) else { return .files }
        // The editor replaces the end of the argument only, after a quotation mark that opens it.
        let quote = word.prefix { $0 == "'" || $0 == "\"" }
        let kept = last.dropLast(word.count - quote.count)
        let found = candidates.filter { $0.hasPrefix(last) }.map {
            String(quote) + $0.dropFirst(kept.count)
        }
        return .words(Set(found).sorted())
    }

    /// The arguments that may follow; nil if it is a file.
    private func candidates(for last: String, after words: [String]) -> [String]? {
        var words = words
        if let first = words.first, let meant = ShellLine.shortForms[first] {
            words.replaceSubrange(0..<1, with: meant)
        }
        let own = ShellCommandName.allCases.map(\.rawValue)
        guard let first = words.first else {
            return LarderCommand.names + own + ShellLine.shortForms.keys
        }
        if first == ShellCommandName.help.rawValue { return LarderCommand.names }
        if first == ShellCommandName.output.rawValue {
            return OutputFormat.allCases.map(\.rawValue)
        }
        let (names, command) = LarderCommand.command(named: words)
        guard let command else { return [] }
        let subcommands = command.configuration.subcommands
        if !subcommands.isEmpty, names.count == words.count, !last.hasPrefix("-") {
            return subcommands.compactMap { $0.configuration.commandName }
        }
        return values(of: command, names, for: last, after: words)
    }

    private func values(
        of command: any ParsableCommand.Type, _ names: [String], for last: String,
        after words: [String]
    ) -> [String]? {
        let known = CommandDescription(command._dumpHelp())
        var position = 0
        var option: CommandDescription.Argument?
        for word in words.dropFirst(names.count) {
            if option != nil {
                option = nil
            } else if let argument = known.named(word) {
                option = argument.kind == .option ? argument : nil
            } else if !word.hasPrefix("--") {
                position += 1
            }
        }
        if option == nil, last.hasPrefix("-") { return known.arguments.flatMap(\.names) }
        let positional = known.positional
        let next =
            position < positional.count
            ? positional[position] : positional.last.flatMap { $0.isRepeating ? $0 : nil }
        guard let argument = option ?? next else { return [] }
        switch argument.completion {
        case .files: return nil
        case .words(let values): return values
        case .custom:
            let index = positional.indices.contains(position) ? position : positional.count - 1
            return StoreCompletion.$proposesValues.withValue(true) {
                LarderCommand.completions(
                    names, option == nil ? "positional@\(index)" : argument.names[0],
                    words + arguments, last)
            }
        }
    }
}
