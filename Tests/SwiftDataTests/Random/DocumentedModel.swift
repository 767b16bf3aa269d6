import Foundation

/// A model of the documentation: two contexts of one container, without any store.
///
/// Objects are numbers. A context shows the saved objects with its own changes; a save writes the
/// properties that were changed, and the last writer wins.
struct DocumentedModel {
    enum Kind: CaseIterable { case category, article, tag, note }

    struct Row: Equatable {
        let kind: Kind
        var words = 0
        var genre = Genre.news
        /// The category of an article, and the article of a note.
        var owner: Int?
        var tags: Set<Int> = []
    }

    /// A changed property: what the context showed before, and what it shows now.
    struct Change<Value: Equatable> {
        let base: Value
        var value: Value

        var isEffective: Bool { base != value }
    }

    struct Changes {
        var words: Change<Int>?
        var genre: Change<Genre>?
        var owner: Change<Int?>?
        var tags: [Int: Change<Bool>] = [:]
    }

    struct Pending {
        var inserted: [Int] = []
        var rows: [Int: Row] = [:]
        var changes: [Int: Changes] = [:]
        var deleted: [Int] = []
        /// Notes of deleted articles, which are deleted or released at the save.
        var frozen: Set<Int> = []
        /// Notes of deleted articles that were never saved, which are deleted at the save.
        var taken: Set<Int> = []
    }

    private(set) var saved: [Int: Row] = [:]
    /// The order in which objects were saved first.
    private(set) var sequence: [Int] = []
    var pending = [Pending(), Pending()]

    func isInserted(_ key: Int, _ side: Int) -> Bool { pending[side].rows[key] != nil }

    /// The objects that a context shows, in the order of insertion, pending objects last.
    func view(_ side: Int) -> [(key: Int, row: Row)] {
        let own = pending[side]
        let deleted = Set(own.deleted)
        var rows: [(key: Int, row: Row)] = []
        for key in sequence where !deleted.contains(key) {
            guard var row = saved[key] else { continue }
            if let changes = own.changes[key] {
                Self.apply(changes, to: &row, onlyEffective: false)
            }
            rows.append((key, row))
        }
        for key in own.inserted {
            if let row = own.rows[key] { rows.append((key, row)) }
        }
        let keys = Set(rows.map(\.key))
        for index in rows.indices {
            Self.dropLinks(of: &rows[index].row) { keys.contains($0) }
        }
        return rows
    }

    mutating func insert(_ key: Int, _ row: Row, _ side: Int) {
        pending[side].inserted.append(key)
        pending[side].rows[key] = row
    }

    mutating func set<Value: Equatable>(
        _ key: Int, _ side: Int, _ property: WritableKeyPath<Row, Value>,
        _ change: WritableKeyPath<Changes, Change<Value>?>, base: Value, to value: Value
    ) {
        if pending[side].rows[key] != nil {
            pending[side].rows[key]?[keyPath: property] = value
        } else if pending[side].changes[key, default: Changes()][keyPath: change] != nil {
            pending[side].changes[key]?[keyPath: change]?.value = value
        } else if base != value {
            pending[side].changes[key, default: Changes()][keyPath: change] = Change(
                base: base, value: value)
        }
    }

    mutating func tag(_ article: Int, _ tag: Int, _ side: Int, isTagged: Bool) {
        if pending[side].rows[article] != nil {
            if isTagged {
                pending[side].rows[article]?.tags.insert(tag)
            } else {
                pending[side].rows[article]?.tags.remove(tag)
            }
        } else if pending[side].changes[article, default: Changes()].tags[tag] != nil {
            // A link that is as it was is not a change.
            pending[side].changes[article]?.tags[tag] = nil
        } else {
            pending[side].changes[article, default: Changes()].tags[tag] = Change(
                base: !isTagged, value: isTagged)
        }
    }

    /// - Parameter notes: The notes that the context shows for a deleted article.
    mutating func delete(_ key: Int, _ side: Int, notes: [Int]) {
        if pending[side].rows[key] != nil {
            pending[side].rows[key] = nil
            pending[side].inserted.removeAll { $0 == key }
            pending[side].frozen.formUnion(notes)
            pending[side].taken.formUnion(notes)
        } else {
            pending[side].deleted.append(key)
            pending[side].changes[key] = nil
            pending[side].frozen.formUnion(notes)
        }
    }

    mutating func rollback(_ side: Int) { pending[side] = Pending() }

    /// Saves, and returns the inserted objects.
    mutating func save(_ side: Int) -> [Int] {
        let own = pending[side]
        pending[side] = Pending()
        for (key, changes) in own.changes {
            guard var row = saved[key], !own.deleted.contains(key) else { continue }
            Self.apply(changes, to: &row, onlyEffective: true)
            saved[key] = row
        }
        for key in own.inserted {
            saved[key] = own.rows[key]
            sequence.append(key)
        }
        for key in own.deleted {
            guard let row = saved.removeValue(forKey: key) else { continue }
            guard row.kind == .article else { continue }
            for (note, other) in saved where other.kind == .note && other.owner == key {
                saved[note] = nil
            }
        }
        for note in own.frozen where !own.inserted.contains(note) { saved[note] = nil }
        for note in own.taken { saved[note] = nil }
        sequence.removeAll { saved[$0] == nil }
        for key in saved.keys {
            if var row = saved[key] {
                Self.dropLinks(of: &row) { saved[$0] != nil }
                saved[key] = row
            }
        }
        return own.inserted.filter { saved[$0] != nil }
    }

    private static func apply(_ changes: Changes, to row: inout Row, onlyEffective: Bool) {
        if let words = changes.words, !onlyEffective || words.isEffective {
            row.words = words.value
        }
        if let genre = changes.genre, !onlyEffective || genre.isEffective {
            row.genre = genre.value
        }
        if let owner = changes.owner, !onlyEffective || owner.isEffective {
            row.owner = owner.value
        }
        for (tag, change) in changes.tags where !onlyEffective || change.isEffective {
            if change.value { row.tags.insert(tag) } else { row.tags.remove(tag) }
        }
    }

    private static func dropLinks(of row: inout Row, unless exists: (Int) -> Bool) {
        if let owner = row.owner, !exists(owner) { row.owner = nil }
        row.tags = row.tags.filter(exists)
    }
}
