import LarderModel

/// The arguments that the process was started with.
package enum ProgramArguments {
    private static let shownMax = 40

    /// Checks that every argument is text. Swift would replace the other bytes by U+FFFD, so that
    /// another value than the user's would be stored.
    ///
    /// - Throws: `malformedValue`, naming the first argument that is not UTF-8.
    package static func check() throws(LarderError) {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let start = CommandLine.unsafeArgv[index],
                String(validatingCString: start) == nil
            else { continue }
            let text = String(cString: start).prefix(shownMax)
            throw LarderError(
                .malformedValue, "argument \(index), \(text), is not valid UTF-8",
                hint: "convert it, for example with `iconv -f latin1 -t utf-8`")
        }
    }
}
