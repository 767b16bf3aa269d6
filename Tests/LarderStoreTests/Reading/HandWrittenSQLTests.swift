import LarderModel
import LarderQuery
import QueryScripts
import TestSupport
import Testing

@testable import LarderSQL
@testable import LarderStore

/// Queries, and the SQL that an engineer who knows the tables would write for them.
@Suite struct HandWrittenSQLTests {
    private struct Pair {
        let clauses: String
        let sql: SQL

        init(_ clauses: String, _ sql: SQL) {
            self.clauses = clauses
            self.sql = sql
        }
    }

    @Test("queries return the same rows as hand-written SQL, on random data")
    func sameAnswers() throws {
        var generator = SeededGenerator.fromEnvironment("hand-written SQL")
        let store = try Store.inMemory(schema: SchemaFile.schema(parsing: Self.schema))
        let fixture = try QueryFixture(store)
        try fill(fixture, &generator)
        let connection = try store.openReadConnection()
        var emptyCount = 0
        for pair in Self.fetches + Self.counts + Self.aggregates {
            let lines = pair.clauses.split(separator: "|").map {
                $0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
            }.map { String($0) }
            var clauses = QueryClauses()
            for line in lines.dropFirst() {
                let words = line.split(separator: " ", maxSplits: 1).map(String.init)
                try clauses.add(words[0], words.count > 1 ? words[1] : "", fixture)
            }
            let first = lines[0].split(separator: " ").map(String.init)
            let query = try clauses.query(first[0], first[1])
            let answer = raw(try fixture.batches(query, clauses.parameters), fixture)
            let expected = try rows(of: pair.sql, on: connection)
            #expect(answer == expected, "\(pair.clauses)")
            if expected.isEmpty { emptyCount += 1 }
        }
        #expect(emptyCount < 8, "most questions have an answer")
    }

    private func rows(of sql: SQL, on connection: Connection) throws -> [String] {
        let statement = try connection.prepare(sql)
        var rows: [String] = []
        while try statement.step() {
            rows.append(
                (0..<statement.columnCount).map { column in
                    switch statement.value(at: column) {
                    case .null: "nil"
                    case .integer(let integer): String(integer)
                    case .real(let real): String(real)
                    case .text(let text): text
                    case .blob: "blob"
                    }
                }.joined(separator: ","))
        }
        return rows
    }

    /// Rows in SQL's form: objects as keys, Booleans as numbers.
    private func raw(_ batches: [Batch], _ fixture: QueryFixture) -> [String] {
        batches.flatMap { batch in
            (0..<batch.rowCount).map { row in
                let key = batch.identity.map { [String($0.keys[row])] } ?? []
                let values = batch.columns.indices.map { column -> String in
                    switch batch.value(row: row, column: column, store: fixture.storeIdentifier) {
                    case .null: "nil"
                    case .bool(let bool): bool ? "1" : "0"
                    case .object(let identifier): String(identifier.permanentKey ?? 0)
                    case let value: value.text
                    }
                }
                return (key + values).joined(separator: ",")
            }
        }
    }

    private static let schema = """
        { "version": "1.0.0", "entities": [
          { "name": "Package", "attributes": [
              { "name": "name", "type": "string", "unique": true },
              { "name": "size", "type": "int64", "optional": true, "indexed": true },
              { "name": "weight", "type": "double", "optional": true },
              { "name": "essential", "type": "bool" } ],
            "relationships": [
              { "name": "section", "destination": "Section", "inverse": "packages" },
              { "name": "maintainer", "destination": "Maintainer", "inverse": "packages" },
              { "name": "dependsOn", "destination": "Package", "toMany": true,
                "inverse": "neededBy" },
              { "name": "neededBy", "destination": "Package", "toMany": true,
                "inverse": "dependsOn" } ] },
          { "name": "Section", "attributes": [ { "name": "name", "type": "string" } ],
            "relationships": [ { "name": "packages", "destination": "Package", "toMany": true,
              "inverse": "section" } ] },
          { "name": "Maintainer", "attributes": [ { "name": "name", "type": "string" } ],
            "relationships": [ { "name": "packages", "destination": "Package", "toMany": true,
              "inverse": "maintainer" } ] } ] }
        """

    private func fill(
        _ fixture: QueryFixture, _ generator: inout SeededGenerator
    ) throws {
        func object(_ entity: String, _ name: String, _ values: [String: JSONValue]) {
            objects.append(QueryFixture.Object(entityName: entity, name: name, values: values))
        }
        func reference(_ prefix: String, _ count: Int) -> JSONValue {
            let number = Int.random(in: 0...count, using: &generator)
            return number == count ? .null : .string("@\(prefix)\(number)")
        }
        var objects: [QueryFixture.Object] = []
        for number in 0..<6 {
            object("Section", "s\(number)", ["name": .string("section\(number)")])
        }
        for number in 0..<9 {
            object(
                "Maintainer", "m\(number)", ["name": .string(["Ann", "Bob", "Cem"][number % 3])])
        }
        for number in 0..<300 {
            let hasSize = Int.random(in: 0..<5, using: &generator) > 0
            let needed = Set((0..<4).map { _ in Int.random(in: 0..<300, using: &generator) })
            object(
                "Package", "p\(number)",
                [
                    "name": .string("lib\(number)"),
                    "size": hasSize
                        ? .integer(Int64.random(in: 0..<500, using: &generator)) : .null,
                    "weight": .double(Double(Int.random(in: -20..<20, using: &generator)) / 4),
                    "essential": .bool(Bool.random(using: &generator)),
                    "section": reference("s", 6), "maintainer": reference("m", 9),
                    "dependsOn": .array(needed.sorted().map { .string("@p\($0)") }),
                ])
        }
        try fixture.insert(objects)
    }
}

extension HandWrittenSQLTests {
    private static func fetch(_ predicate: String, _ sql: SQL) -> Pair {
        Pair(
            "fetch Package | ids | where \(predicate)",
            "SELECT _id FROM Package p WHERE \(sql) ORDER BY _id")
    }

    private static let fetches = [
        fetch("size > 250", "size > 250"),
        fetch("size != 100", "size IS NOT 100"),
        fetch("NOT size < 400", "NOT coalesce(size < 400, 0)"),
        fetch("size == nil", "size IS NULL"),
        fetch("size BETWEEN {100, 200} AND essential", "size BETWEEN 100 AND 200 AND essential"),
        fetch("size IN {1, 2, 3, nil}", "size IN (1, 2, 3) OR size IS NULL"),
        fetch("weight == size", "weight = size"),
        fetch("weight > 1.25 OR NOT essential", "weight > 1.25 OR essential = 0"),
        fetch("name BEGINSWITH \"lib1\"", "name LIKE 'lib1%'"),
        fetch("name ENDSWITH \"7\"", "name LIKE '%7'"),
        fetch("name CONTAINS \"b2\"", "name LIKE '%b2%'"),
        fetch("name LIKE \"lib?5\"", "name GLOB 'lib?5'"),
        fetch("name MATCHES \"lib[0-9]\"", "name GLOB 'lib[0-9]'"),
        fetch("name >= \"lib30\" AND name < \"lib40\"", "name >= 'lib30' AND name < 'lib40'"),
        fetch("name ==[c] \"LIB7\"", "lower(name) = 'lib7'"),
        fetch(
            "section.name == \"section3\"",
            "section = (SELECT _id FROM Section WHERE name = 'section3')"),
        fetch(
            "section.name != \"section3\"",
            "section IS NULL OR section <> (SELECT _id FROM Section WHERE name = 'section3')"),
        fetch("section == nil OR maintainer == nil", "section IS NULL OR maintainer IS NULL"),
        fetch(
            "maintainer.name == \"Bob\" AND section.name < \"section2\"",
            """
            maintainer IN (SELECT _id FROM Maintainer WHERE name = 'Bob')
            AND section IN (SELECT _id FROM Section WHERE name < 'section2')
            """),
        fetch(
            "ANY dependsOn.name == \"lib5\"",
            """
            _id IN (SELECT source FROM "_join.Package.dependsOn" j
            JOIN Package d ON d._id = j.target WHERE d.name = 'lib5')
            """),
        fetch(
            "SUBQUERY(dependsOn, $d, $d.name == \"lib5\").@count > 0",
            """
            _id IN (SELECT source FROM "_join.Package.dependsOn" j
            JOIN Package d ON d._id = j.target WHERE d.name = 'lib5')
            """),
        fetch(
            "ALL dependsOn.size > 50",
            """
            (SELECT count(*) FROM "_join.Package.dependsOn" j
            JOIN Package d ON d._id = j.target WHERE j.source = p._id)
            = (SELECT count(*) FROM "_join.Package.dependsOn" j
            JOIN Package d ON d._id = j.target WHERE j.source = p._id AND d.size > 50)
            """),
        fetch(
            "neededBy.@count == 0",
            "_id NOT IN (SELECT target FROM \"_join.Package.dependsOn\")"),
        fetch(
            "neededBy.@count > 4",
            """
            (SELECT count(*) FROM "_join.Package.dependsOn" WHERE target = p._id) > 4
            """),
        fetch(
            "SUBQUERY(dependsOn, $d, $d.section == SELF.section AND $d.size > size).@count >= 1",
            """
            EXISTS (SELECT 1 FROM "_join.Package.dependsOn" j
            JOIN Package d ON d._id = j.target WHERE j.source = p._id
            AND d.section IS p.section AND d.size > p.size)
            """),
        fetch(
            "ANY dependsOn.dependsOn.name == \"lib9\"",
            """
            _id IN (SELECT j.source FROM "_join.Package.dependsOn" j
            JOIN "_join.Package.dependsOn" k ON k.source = j.target
            JOIN Package d ON d._id = k.target WHERE d.name = 'lib9')
            """),
        fetch(
            "ANY section.packages.size == 499",
            "section IN (SELECT section FROM Package WHERE size = 499)"),
        fetch(
            "NOT ANY dependsOn.essential == YES",
            """
            _id NOT IN (SELECT source FROM "_join.Package.dependsOn" j
            JOIN Package d ON d._id = j.target WHERE d.essential)
            """),
        fetch(
            "dependsOn CONTAINS SELF",
            "_id IN (SELECT source FROM \"_join.Package.dependsOn\" WHERE source = target)"),
        Pair(
            """
            fetch Package | select name, section.name, size | sort size:desc | sort name \
            | limit 20 | offset 5
            """,
            """
            SELECT p._id, p.name, s.name, p.size FROM Package p LEFT JOIN Section s
            ON s._id = p.section ORDER BY size DESC, p.name LIMIT 20 OFFSET 5
            """),
        Pair(
            "fetch Package | select maintainer.name, essential | distinct",
            """
            SELECT DISTINCT m.name, essential FROM Package p LEFT JOIN Maintainer m
            ON m._id = p.maintainer ORDER BY 1, 2
            """),
        Pair(
            "fetch Section | ids | where ANY packages.maintainer.name == \"Cem\" | sort name:desc",
            """
            SELECT _id FROM Section WHERE _id IN (SELECT section FROM Package WHERE maintainer IN
            (SELECT _id FROM Maintainer WHERE name = 'Cem')) ORDER BY name DESC
            """),
    ]

    private static let counts = [
        Pair("count Package", "SELECT count(*) FROM Package"),
        Pair(
            "count Package | where section.name IN {\"section1\", \"section2\"}",
            """
            SELECT count(*) FROM Package JOIN Section s ON s._id = section
            WHERE s.name IN ('section1', 'section2')
            """),
        Pair(
            "count Section | where packages.@count > 40",
            """
            SELECT count(*) FROM (SELECT section FROM Package WHERE section IS NOT NULL
            GROUP BY section HAVING count(*) > 40)
            """),
    ]

    private static let aggregates = [
        Pair(
            "aggregate Package | group section.name | columns count, sum:size, average:size",
            """
            SELECT s.name, count(*), coalesce(sum(size), 0), avg(size) FROM Package p
            LEFT JOIN Section s ON s._id = p.section GROUP BY s.name ORDER BY s.name
            """),
        Pair(
            """
            aggregate Package | group section | columns n=count | sort n:desc | sort section \
            | limit 3
            """,
            """
            SELECT section, count(*) n FROM Package GROUP BY section
            ORDER BY n DESC, section LIMIT 3
            """),
        Pair(
            """
            aggregate Package | group maintainer.name, essential \
            | columns n=count, largest=maximum:size | where size > 100 \
            | having n > 3 AND largest < 499
            """,
            """
            SELECT m.name, essential, count(*), max(size) FROM Package p LEFT JOIN Maintainer m
            ON m._id = p.maintainer WHERE size > 100 GROUP BY 1, 2
            HAVING count(*) > 3 AND max(size) < 499 ORDER BY 1, 2
            """),
        Pair(
            """
            aggregate Package | columns minimum:name, maximum:weight, countDistinct:maintainer, \
            count:size
            """,
            "SELECT min(name), max(weight), count(DISTINCT maintainer), count(size) FROM Package"),
        Pair(
            "aggregate Package | columns median:size | where size != nil",
            """
            SELECT avg(size) FROM (SELECT size FROM Package WHERE size IS NOT NULL ORDER BY size
            LIMIT 2 - (SELECT count(size) FROM Package) % 2
            OFFSET (SELECT (count(size) - 1) / 2 FROM Package))
            """),
        Pair(
            "aggregate Package | where ANY neededBy.essential == YES | columns count, sum:weight",
            """
            SELECT count(*), total(weight) FROM Package WHERE _id IN (SELECT target FROM
            "_join.Package.dependsOn" JOIN Package s ON s._id = source WHERE s.essential)
            """),
    ]
}
