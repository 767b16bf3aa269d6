import LarderModel

/// The changes of several lines of `larder shell`, which are saved in one transaction.
final class PendingChanges {
    struct Line {
        let text: String
        let changes: ChangeSet
        /// The temporary name of the object that the line inserts.
        let name: String?
    }

    private(set) var lines: [Line] = []
    /// The line that adds its changes now.
    private var text = ""
    private var author = ""

    var isEmpty: Bool { lines.isEmpty }

    /// The temporary name of an object that the present line inserts: `t:3` for the first one of
    /// the third line.
    func temporaryName(_ index: Int) -> String {
        let line = "t:\(lines.count + 1)"
        return index == 0 ? line : "\(line).\(index)"
    }

    /// Runs a command whose changes are kept.
    func collect(_ text: String, author: String?, _ run: () throws -> Void) rethrows {
        self.text = text
        self.author = author ?? ""
        try run()
    }

    /// Keeps the changes of the present line.
    ///
    /// - Throws: `unsupported` if they cannot be saved together with those of the other lines.
    func add(_ changes: ChangeSet, idempotencyKey: String) throws(LarderError) {
        guard idempotencyKey.isEmpty else {
            throw LarderError(
                .unsupported, "--idempotency-key cannot be used after begin",
                hint: "the lines are saved together, in one transaction")
        }
        var changes = changes
        changes.author = author
        if let first = lines.first {
            try check(changes.onUniqueConflict == first.changes.onUniqueConflict, "--upsert")
            try check(changes.mergePolicy == first.changes.mergePolicy, "--merge")
            try check(changes.author == first.changes.author, "--author")
        }
        lines.append(Line(text: text, changes: changes, name: name(in: changes)))
    }

    private func check(_ isEqual: Bool, _ option: String) throws(LarderError) {
        guard !isEqual else { return }
        throw LarderError(
            .unsupported, "\(option) must be the same for all pending lines",
            hint: "save the pending lines before")
    }

    private func name(in changes: ChangeSet) -> String? {
        let name = temporaryName(0)
        let isInserted = changes.changes.contains { change in
            guard case .insert(let identifier, _, _) = change else { return false }
            return identifier.key == .temporary(name)
        }
        return isInserted ? name : nil
    }

    /// Takes back the last line.
    func removeLast() -> Line? { lines.popLast() }

    /// The changes of all lines.
    var changes: ChangeSet {
        var all = lines.first?.changes ?? ChangeSet()
        for line in lines.dropFirst() {
            all.changes += line.changes.changes
            all.conditions += line.changes.conditions
        }
        return all
    }

    /// The number of the line of each change, for errors.
    var lineNumbers: ChangeLineNumbers {
        func numbers(_ count: (ChangeSet) -> Int) -> [Int] {
            lines.enumerated().flatMap { index, line in
                Array(repeating: index + 1, count: count(line.changes))
            }
        }
        return ChangeLineNumbers(
            fileName: "pending", lines: numbers { $0.changes.count },
            conditionLines: numbers { $0.conditions.count })
    }
}
