import ArgumentParser

/// The commands by their names, and what completes their arguments.
extension LarderCommand {
    static var commands: [any ParsableCommand.Type] {
        configuration.groupedSubcommands.flatMap { $0.subcommands }
    }

    static var names: [String] { commands.compactMap { $0.configuration.commandName } }

    /// The command that words begin with, and those of the words that are its name; a default
    /// subcommand that is not named is not one of them.
    static func command(
        named words: [String]
    ) -> (names: [String], command: (any ParsableCommand.Type)?) {
        var names: [String] = []
        var command: (any ParsableCommand.Type)?
        var subcommands = commands
        for word in words {
            let next = subcommands.first { $0.configuration.commandName == word }
            guard let next else { break }
            names.append(word)
            command = next
            subcommands = next.configuration.subcommands
        }
        return (names, command?.configuration.defaultSubcommand ?? command)
    }

    /// The completions of an argument, as the completion script of a shell asks for them.
    ///
    /// - Parameters:
    ///   - names: The names of the command.
    ///   - argument: The name of an option, or `positional@` and an index.
    ///   - words: The words before the argument.
    static func completions(
        _ names: [String], _ argument: String, _ words: [String], _ last: String
    ) -> [String] {
        let place = [String(words.count), String(last.count)]
        do {
            _ = try parseAsRoot(
                ["---completion"] + names + ["--", argument] + place + words + [last])
            return []
        } catch {
            // ArgumentParser returns them as the text of an error.
            return fullMessage(for: error).split(separator: "\n").map { String($0) }
        }
    }
}
