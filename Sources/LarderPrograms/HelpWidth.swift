import Glibc

/// The width of the lines of help. ArgumentParser prints no descriptions in a window that is
/// narrower than its first column, and a debug build of it stops there.
package enum HelpWidth {
    private static let minimum = 40
    private static let variable = "COLUMNS"

    /// Sets the variable by which ArgumentParser knows the width if the window, or the value that
    /// the variable has, is too narrow. Must be called before there is another thread.
    package static func prepare() {
        guard let columnCount = given ?? terminal, columnCount < minimum else { return }
        setenv(variable, "\(minimum)", 1)
    }

    private static var given: Int? { getenv(variable).flatMap { Int(String(cString: $0)) } }

    private static var terminal: Int? {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }
}
