/// The completion script for bash, as ArgumentParser prints it.
enum CompletionScript {
    private static let registration = "complete -o filenames -F _larder larder"

    /// The script with a function that adds no space where an argument continues: a value follows
    /// `title=`, an expression `sum:`. Other texts are returned as they are.
    static func adapted(_ text: String) -> String {
        guard text.hasPrefix("#!/bin/bash") else { return text }
        return text.replacing(
            registration,
            with: """
                _larder_arguments() {
                    _larder "$@"
                    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *[=:] ]] || compopt -o nospace
                }
                complete -o filenames -F _larder_arguments larder
                """)
    }
}
