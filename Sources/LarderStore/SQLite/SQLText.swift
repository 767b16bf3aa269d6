/// A statement's text that is kept to be run again and again. It is known by itself and not by its
/// letters: a ``StatementCache`` finds its statement without a look at them.
final class SQLText: Sendable {
    let text: String

    init(_ text: String) { self.text = text }
}

extension SQLText: Hashable {
    static func == (left: SQLText, right: SQLText) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
