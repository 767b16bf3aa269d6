import LarderModel
import LarderSQL

/// Leaves frequent terms out of a query of an index of parts of texts.
///
/// FTS5 reads the list of objects of every term in a query. The texts of the objects that it finds
/// are compared anyway, so a query with fewer terms has the same result in the end; and the list of
/// a frequent term takes more time than the comparisons that it saves.
///
/// The lengths of the lists are estimated from the table in which FTS5 stores on which page the
/// terms begin. A wrong estimate costs time only.
struct TermSelection {
    /// How many pages the second list may have for each page of the shortest one: to read a page
    /// takes as long as ten comparisons, and a page has some thousands of objects.
    private static let pagesPerPage = 48
    /// Each list is assumed to leave one of this number of objects.
    private static let reduction = 4
    /// Lists that are always read.
    private static let pagesMin = 8
    /// A term of more objects than this is frequent.
    private static let objectsMin = 1_000

    private let connection: Connection
    private let index: String
    /// Gets a segment and a term; returns the page on which the term may begin, and the next page
    /// on which another term does. FTS5 stores twice the number of a page, plus a flag.
    private let pages: Statement
    private let segments: [Int64]

    init(_ connection: Connection, index: String) throws(SQLError) {
        self.connection = connection
        self.index = index
        let table: SQL = "\(name: index + SearchTable.pagesSuffix)"
        pages = try connection.prepare(
            """
            SELECT (SELECT pgno >> 1 FROM \(table) WHERE segid = ?1 AND term <= ?2 \
            ORDER BY term DESC LIMIT 1), (SELECT pgno >> 1 FROM \(table) \
            WHERE segid = ?1 AND term > ?2 ORDER BY term LIMIT 1)
            """)
        segments = try Self.segments(connection, table)
    }

    /// The segments of the index, each of which has a list for a term.
    private static func segments(
        _ connection: Connection, _ table: SQL
    ) throws(SQLError) -> [Int64] {
        let next = try connection.prepare("SELECT min(segid) FROM \(table) WHERE segid > ?")
        var segments: [Int64] = []
        while true {
            next.reset()
            try next.bind(.integer(segments.last ?? -1), at: 1)
            guard try next.step(), !next.isNull(at: 0) else { return segments }
            segments.append(next.int64(at: 0))
        }
    }

    /// The terms that are worth their lists, the rarest first; at least one.
    func selected(of terms: [String]) throws(SQLError) -> [String] {
        var estimates: [(term: String, pages: Int)] = []
        for term in terms { estimates.append((term, try pageCount(of: term))) }
        estimates.sort { $0.pages < $1.pages }
        guard let shortest = estimates.first?.pages else { return [] }
        var pagesMax = Int.max
        var selected: [String] = []
        for (term, pages) in estimates {
            let isShort = pages <= max(pagesMax, Self.pagesMin)
            let isFrequent = isShort ? false : try isFrequent(term)
            if !isFrequent { selected.append(term) }
            pagesMax =
                pagesMax == .max
                ? max(1, shortest) * Self.pagesPerPage : pagesMax / Self.reduction
        }
        return selected
    }

    /// About how many pages the lists of a term have; too many for a term that begins on the same
    /// page as a longer list, and none for lists within a page.
    private func pageCount(of term: String) throws(SQLError) -> Int {
        var count = 0
        // FTS5 marks the terms of the table itself, unlike those of `prefix=`, with this digit.
        let stored = [UInt8(ascii: "0")] + Array(term.utf8)
        for segment in segments {
            pages.reset()
            try pages.bind([.integer(segment), .blob(stored)])
            guard try pages.step(), !pages.isNull(at: 0), !pages.isNull(at: 1),
                let first = UInt32(exactly: pages.int64(at: 0)),
                let last = UInt32(exactly: pages.int64(at: 1))
            else { continue }
            count += Int(last) - Int(first)
        }
        return count
    }

    private func isFrequent(_ term: String) throws(SQLError) -> Bool {
        let objects = try connection.prepare(
            """
            SELECT 1 FROM \(name: index) WHERE \(name: index) MATCH ? \
            LIMIT 1 OFFSET \(Self.objectsMin)
            """)
        try objects.bind(.text(TrigramQuery.text(of: [term])), at: 1)
        return try objects.step()
    }
}
