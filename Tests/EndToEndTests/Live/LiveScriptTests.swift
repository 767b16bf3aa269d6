import LarderClient
import TestSupport
import Testing

@Suite("Scripts of live queries")
struct LiveScriptTests {
    private let daemon: TestDaemon
    private let client: StoreClient
    private let writer: StoreClient

    init() throws {
        daemon = try TestDaemon()
        client = try daemon.connect()
        writer = try daemon.connect()
    }

    /// While a script is reduced, many are run that fail.
    private static let shortPatience = Duration.milliseconds(250)

    /// Counts and aggregates that are observed in all runs of a test.
    private typealias Aggregates = [(Query, QueryParameters)]

    private func fails(_ script: LiveScript, _ aggregates: Aggregates) throws -> Bool {
        let run = try LiveScriptRun(
            client, writer: writer, patience: Self.shortPatience, aggregates: aggregates)
        return try !run.run(script).isEmpty
    }

    /// Runs random commits.
    ///
    /// - Returns: the commits up to the first difference, and the difference.
    private func firstDifference(
        _ queries: [LiveScript.Query], rounds: Int, _ choice: SeededGenerator, _ run: LiveScriptRun
    ) throws -> (script: LiveScript, output: String)? {
        var script = LiveScript(queries: queries)
        for query in script.queries { try run.observe(query) }
        var generator = LiveScriptGenerator(choice)
        var output = ""
        for _ in 0..<rounds where output.isEmpty {
            try generator.round(
                run.existing,
                perform: { step in
                    script.steps.append(step)
                    output += try run.run(step)
                })
        }
        return output.isEmpty ? nil : (script, output)
    }

    /// Runs random commits, and reports the smallest script that shows a difference.
    private func check(
        _ queries: [LiveScript.Query], _ aggregates: Aggregates, _ choice: SeededGenerator
    ) throws {
        let difference = try firstDifference(
            queries, rounds: 60, choice,
            LiveScriptRun(client, writer: writer, aggregates: aggregates))
        guard let (script, output) = difference else { return }
        // With a check after each commit, the time that an evaluation takes makes no difference.
        let isTimed = try !fails(script.checked, aggregates)
        func form(_ script: LiveScript) -> LiveScript { isTimed ? script : script.checked }
        let smallest = form(try form(script).minimised { try fails(form($0), aggregates) })
        let again = try LiveScriptRun(client, writer: writer, aggregates: aggregates)
            .run(smallest)
        Issue.record(
            """
            \(output)
            # LARDER_SEED=\(choice.seed), a script for Tests/EndToEndTests/Scripts/live:
            # \(again.isEmpty ? "It depends on time: equal when it ran again." : again)

            \(smallest.text)
            """)
    }

    @Test("a live query always equals a fresh fetch, after any commits")
    func property() throws {
        try check(LiveScript.randomQueries, [], .fromEnvironment("live queries"))
    }

    @Test("a live count or aggregate always equals a fresh one, after any commits")
    func valuesProperty() throws {
        try check([], LiveScriptRun.aggregates, .fromEnvironment("live aggregates"))
    }

    @Test("in each stored script, a live query equals a fresh fetch after each commit")
    func stored() throws {
        try runScripts(in: "live") {
            let run = try LiveScriptRun(client, writer: writer)
            return { try run.run($0) }
        }
    }

    // MARK: - The smallest script

    @Test("a planted loss of a live result is found, and reduced to the commits that show it")
    func lostResult() throws {
        func run() throws -> LiveScriptRun {
            try LiveScriptRun(client, writer: writer) {
                !$0.deleted.isEmpty && $0.inserted.isEmpty
            }
        }
        let found = try firstDifference(
            LiveScript.randomQueries, rounds: 60, SeededGenerator(seed: 7), run())
        let script = try #require(found).script.checked
        let smallest = try script.minimised { try !run().run($0.checked).isEmpty }.checked
        // No part of it can be removed, but another script may be smaller.
        #expect(smallest.queries.count == 1 && smallest.steps.count <= 12, "\(smallest.text)")
        #expect(smallest.text.utf8.count < 500, "\(smallest.text)")
        #expect(try LiveScriptRun(client, writer: writer).run(smallest).isEmpty)
    }

    @Test("a script of live queries is reduced to what a failure needs")
    func minimum() throws {
        var script = LiveScript(queries: LiveScript.randomQueries)
        for number in 0..<40 {
            script.steps.append(
                .save([
                    LiveScript.Edit(
                        kind: .insert(entityName: "Article"), object: "n\(number)",
                        values: ["title": .string("a"), "wordCount": .integer(Int64(number))]),
                    LiveScript.Edit(kind: .delete, object: "n\(number - 1)"),
                ]))
            script.steps.append(.check)
        }
        // An article with 17 words, a later deletion, and a sorted query with a limit.
        let smallest = script.minimised { script in
            let edits = script.steps.flatMap { step -> [LiveScript.Edit] in
                if case .save(let edits) = step { edits } else { [] }
            }
            guard let start = edits.firstIndex(where: { $0.values["wordCount"] == .integer(17) })
            else { return false }
            return edits[start...].contains { $0.kind == .delete && $0.object == "n30" }
                && script.queries.contains { $0.limit == 4 && $0.sort.contains("title") }
        }
        #expect(
            smallest.text == """
                observe Article
                sort title
                limit 4
                ---

                save
                insert Article n17 {"wordCount":17}
                ---

                save
                delete n30
                ---

                """)
    }

    @Test("the text of a script of live queries is read back as the same script")
    func text() throws {
        var generator = LiveScriptGenerator(.fromEnvironment("texts of live queries"))
        var script = LiveScript(queries: LiveScript.randomQueries)
        for _ in 0..<50 {
            try generator.round(
                { ["\($0)1", "\($0)2"] }, perform: { script.steps.append($0) })
        }
        for query in script.queries { #expect(try LiveScript.Query(parsing: query.text) == query) }
        for step in script.steps { #expect(try LiveScript.Step(parsing: step.text) == step) }
        #expect(throws: LiveScript.Unreadable.self) { try LiveScript.Step(parsing: "cheek") }
        #expect(throws: LiveScript.Unreadable.self) {
            try LiveScript.Query(parsing: "observe Article\nsorted title")
        }
    }
}
