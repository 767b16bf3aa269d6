import Glibc

/// Standard error, unbuffered.
package enum StandardError {
    /// Writes the text. A failure is ignored, because there is no other channel to report it on.
    package static func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = Glibc.write(STDERR_FILENO, Array(rest), rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
