import CEdit
import Glibc
import LarderModel
import Synchronization

/// The lines that a person types at a terminal, with editing, a history and completion by libedit.
///
/// libedit has one state per process, so there is one editor.
final class LineEditor {
    enum Input: Equatable {
        case line(String)
        /// The person pressed Control-C. What was typed is dropped.
        case interrupted
        case end
    }

    /// The completions of the word before the cursor.
    enum Completion: Equatable {
        /// One of these words.
        case words([String])
        /// A path of a file.
        case files
    }

    typealias Completer = @Sendable (_ line: String, _ word: String) -> Completion

    fileprivate static let state = Mutex(State())

    fileprivate struct State {
        var completer: Completer?
        /// The line that libedit has read.
        var input: Input?
    }

    private let interrupt: Interrupt
    private var history: LineHistory

    init(interrupt: Interrupt, history: LineHistory, completer: @escaping Completer) {
        self.interrupt = interrupt
        self.history = history
        // libedit reads and writes characters of the locale.
        setlocale(LC_CTYPE, "")
        Self.state.withLock { $0.completer = completer }
        larder_edit_begin("larder") { word, start, _ in completions(word, start: start) }
        for line in history.lines { add_history(line) }
    }

    /// Waits for a line.
    func read(_ prompt: String) -> Input {
        Self.state.withLock { $0.input = nil }
        rl_callback_handler_install(prompt) { text in
            let input = text.map { Input.line(String(cString: $0)) } ?? .end
            free(text)
            LineEditor.state.withLock { $0.input = input }
        }
        defer { rl_callback_handler_remove() }
        while true {
            var inputs = [
                pollfd(fd: interrupt.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&inputs, 2, -1) > 0 else {
                // A signal, such as that of a new size of the window.
                guard errno == EINTR else { return .end }
                continue
            }
            if interrupt.take() { return .interrupted }
            // A terminal that was closed can be read for ever.
            guard inputs[1].revents & Int16(POLLHUP | POLLERR | POLLNVAL) == 0 else { return .end }
            rl_callback_read_char()
            if let input = Self.state.withLock({ $0.input }) { return input }
        }
    }

    /// Adds a line to the history.
    func remember(_ line: String) {
        if let entry = history.add(line) { add_history(entry) }
    }
}

/// The completions in libedit's form: the longest common start, then the words; nil for none.
private func completions(
    _ word: UnsafePointer<CChar>?, start: Int32
) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
    guard let word, let line = larder_edit_line(),
        let completer = LineEditor.state.withLock({ $0.completer })
    else { return nil }
    let bytes = UnsafeBufferPointer(start: line, count: Int(start))
    let before = String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let text = String(cString: word)
    larder_edit_append(0)
    switch completer(before + text, text) {
    case .files:
        larder_edit_complete_files(1)
        return nil
    case .words(let words):
        larder_edit_complete_files(0)
        guard let first = words.first else { return nil }
        if words.count == 1, let last = first.last, last.isLetter || last.isNumber {
            larder_edit_append(CChar(UInt8(ascii: " ")))
        }
        let start = words.dropFirst().reduce(first) { $0.commonPrefix(with: $1) }
        let size = MemoryLayout<UnsafeMutablePointer<CChar>?>.stride * (words.count + 2)
        // libedit frees the list and its texts.
        let list = malloc(size)?.assumingMemoryBound(to: UnsafeMutablePointer<CChar>?.self)
        for (index, text) in ([start] + words).enumerated() { list?[index] = strdup(text) }
        list?[words.count + 1] = nil
        return list
    }
}

extension String {
    fileprivate func commonPrefix(with other: String) -> String {
        String(zip(self, other).prefix { $0 == $1 }.map(\.0))
    }
}
