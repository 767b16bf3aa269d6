import LarderClient
import LarderModel

/// Operators and functions of strings over all objects, without an index: the processor time of
/// the server next to that of SQLite's own functions over the same rows.
struct TextSearch: Measure {
    let name = "text"

    func measure(_ run: Run) throws {
        let count = run.size(1_000_000, quick: 2_000)
        let server = try NoteServer(run, count: count)
        let sqlite = try run.peer("sqlite", [run.path("notes.db")])
        _ = try sqlite?.sample("notes \(count)")
        for (form, predicate, command, most) in [
            ("CONTAINS", "title CONTAINS 'stone'", "contains", 1.3),
            ("CONTAINS, several scripts", "body CONTAINS 'погода'", "contains-mixed", 1.3),
            ("CONTAINS[c]", "title CONTAINS[c] 'STONE'", "contains", 3),
            ("CONTAINS[cd]", "title CONTAINS[cd] 'STONE'", "contains", 3),
            ("CONTAINS[c], several scripts", "body CONTAINS[c] 'ПОГОДА'", "contains-mixed", 6),
            ("CONTAINS[cd], several scripts", "body CONTAINS[cd] 'ANGSTROM'", "contains-marked", 6),
            ("LIKE", "title LIKE '*st?ne*'", "like", 1.5),
            ("LIKE, several scripts", "body LIKE '*wint?r*'", "like-mixed", 1.5),
            ("ENDSWITH", "title ENDSWITH 'stone'", "ends", 1.5),
            ("length", "length(title) > 80", "length", 1.5),
            ("length, several scripts", "length(body) > 80", "length-mixed", 1.5),
        ] {
            try run.compare(
                "\(form) over \(count) texts, processor time", unit: "µs",
                ours: { try server.count(predicate) },
                [Rival("SQLite's own function", .atMost(most), sqlite, command)])
        }
        try run.compare(
            "MATCHES over \(count) texts, processor time", unit: "µs",
            ours: { try server.count("title MATCHES '.*st.ne.*'") }, [])
    }
}
