import Foundation
import HTMLPages
import LarderClient
import Testing

@testable import BrowserViews

@Suite("Values on a page")
struct ShownValueTests {
    private let markup = "<b>\"x\"</b>"

    @Test("a long text is cut to whole characters, and a short one is not")
    func cutting() {
        let family = "👩‍👩‍👧"
        let text = String(repeating: family, count: 10)
        #expect(
            ShownValue(.string(text), charactersMax: 3)
                == .text(String(repeating: family, count: 3), isCut: true))
        #expect(ShownValue(.string("abc"), charactersMax: 3) == .text("abc", isCut: false))
        #expect(ShownValue(.string("abcd"), charactersMax: 3) == .text("abc", isCut: true))
        #expect(ShownValue(.string(""), charactersMax: 3) == .text("", isCut: false))
        // A character of very many scalars is cut, too.
        let accents = "e" + String(repeating: "\u{301}", count: 100_000)
        guard case .text(let cut, isCut: true) = ShownValue(.string(accents), charactersMax: 3)
        else { return #expect(Bool(false), "the text is not cut") }
        #expect(cut.utf8.count <= 96)
    }

    @Test("each type of value is shown as what it is")
    func types() {
        func cell(_ value: Value) -> String { ShownValue(value, charactersMax: 50).cell.text }
        #expect(cell(.null).contains("nil"))
        #expect(cell(.bool(true)) == "true")
        #expect(cell(.decimal(Decimal(string: "12.50") ?? 0)) == "12.5")
        #expect(cell(.string(markup)).contains("&lt;b&gt;&quot;x&quot;"))
        let day = Date(timeIntervalSinceReferenceDate: 0)
        #expect(
            cell(.date(day))
                == "<time datetime=\"2001-01-01T00:00:00Z\">2001-01-01"
                + "<span class=\"quiet\"> UTC</span></time>")
        #expect(cell(.date(day + 3_661.5)).contains(">2001-01-01 01:01:01.5<"))
        #expect(cell(.date(Date(timeIntervalSinceReferenceDate: 1e300))).contains("+1e+300s"))
        #expect(cell(.json("{\"a\": \"<i>\"}")).contains("&lt;i&gt;"))
    }

    @Test("an address is a link only if it is one of the web")
    func addresses() throws {
        func cell(_ text: String) throws -> String {
            ShownValue(.url(try #require(URL(string: text))), charactersMax: 200).cell.text
        }
        #expect(
            try cell("https://example.org/?a=1&b=2")
                .contains("<a class=\"text\" href=\"https://example.org/?a=1&amp;b=2\""))
        for text in ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "mailto:a@b"]
        {
            #expect(try !cell(text).contains("<a "), "\(text)")
        }
        let long = "https://example.org/" + String(repeating: "a", count: 300)
        #expect(try !cell(long).contains("<a "))
    }

    @Test("the type of an image is found by its first bytes, and SVG is not an image")
    func images() {
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0]
        #expect(ImageType.of(png) == "image/png")
        #expect(ImageType.of([0xFF, 0xD8, 0xFF, 0xE0]) == "image/jpeg")
        #expect(ImageType.of(Array("GIF89a...".utf8)) == "image/gif")
        #expect(ImageType.of(Array("RIFF....WEBPVP8 ".utf8)) == "image/webp")
        for other in ["<svg xmlns=", "", "RIFF....WAVE", "GIF"] {
            #expect(ImageType.of(Array(other.utf8)) == nil)
        }
    }

    @Test("a JSON document is a tree of a bounded number of values, and each text is escaped")
    func json() {
        let html = ShownValue.json("{\"<k>\": [1, \"<v>\", null, {}]}", isCut: false)
            .whole(at: "/value").text
        #expect(html.contains("<span class=\"key\">&lt;k&gt;</span>"))
        #expect(html.contains("<span class=\"string\">&quot;&lt;v&gt;&quot;</span>"))
        let many = "[" + (0..<5_000).map(String.init).joined(separator: ",") + "]"
        let list = ShownValue.json(many, isCut: false).whole(at: "/value").text
        #expect(list.contains("and \(5_000 - JSONView.valuesMax) more"))
        let cut = ShownValue.json("{\"<k>\": ", isCut: true).whole(at: "/value").text
        #expect(cut.contains("<a href=\"/value\" download>"))
        #expect(!cut.contains("<k>"))
    }

    @Test("an error in a predicate is marked at its column, also in a long text")
    func errors() {
        let error = LarderError(
            .malformedPredicate, "predicate, column 9: expected a value", column: 9)
        let html = queryError(error, in: [("predicate", "name == < 3")]).text
        #expect(html.contains("name == <mark>&lt;</mark> 3"))
        let long = String(repeating: "a", count: 500) + "<"
        let far = LarderError(.malformedPredicate, "predicate, column 501: no", column: 501)
        let excerpt = queryError(far, in: [("predicate", long)]).text
        #expect(excerpt.contains("…aaa"))
        #expect(excerpt.contains("<mark>&lt;</mark>"))
        let past = LarderError(.malformedPredicate, "predicate, column 99: no", column: 99)
        #expect(queryError(past, in: [("predicate", "a")]).text.contains("a<mark> </mark>"))
    }
}

@Suite("Drawings")
struct DrawingTests {
    @Test("a drawing has a box for each entity and one line for both sides of a relationship")
    func schema() throws {
        let schema = try SchemaFile.schema(
            parsing: """
                { "version": "1.0.0", "entities": [
                  { "name": "A", "attributes": [ { "name": "x", "type": "string" } ],
                    "relationships": [
                      { "name": "bs", "destination": "B", "toMany": true, "inverse": "a" },
                      { "name": "self", "destination": "A" } ] },
                  { "name": "B", "relationships": [
                      { "name": "a", "destination": "A", "inverse": "bs", "optional": false } ] },
                  { "name": "C", "parent": "B" } ] }
                """)
        let svg = SchemaDrawing(schema.entities, of: schema).html.text
        #expect(svg.matches(of: /<rect class="box"/).count == 3)
        #expect(svg.matches(of: /<path class="link"/).count == 2)
        #expect(svg.matches(of: /<path class="parent"/).count == 1)
        #expect(svg.contains("<title>B: a / bs :A</title>"))
        #expect(svg.contains(">B 0..*</text>"))
        #expect(svg.contains(">A 1</text>"))
        let boxes = SchemaDrawing(schema.entities, of: schema).boxes
        for (index, box) in boxes.enumerated() {
            for other in boxes.dropFirst(index + 1) where other.column == box.column {
                #expect(other.y >= box.y + box.height || box.y >= other.y + other.height)
            }
        }
    }

    @Test("a schema with more entities than a drawing has is a list of links")
    func largeSchema() throws {
        let entities = (0...SchemaDrawing.entitiesMax).map { number in
            Entity(
                name: "E\(number)", attributes: [],
                relationships: [Relationship(name: "next", destination: "E0")])
        }
        let schema = try Schema(entities: entities)
        let whole = schemaView(schema, of: nil).text
        #expect(!whole.contains("<svg"))
        #expect(whole.contains("href=\"/schema?entity=E7\""))
        let one = schemaView(schema, of: schema.entity(named: "E0")).text
        #expect(
            one.matches(of: /<rect class="box"/).count == SchemaDrawing.entitiesMax)
    }

    @Test("groups are bars, and a line if their keys are ascending numbers or dates")
    func charts() throws {
        func drawing(_ keys: [Value], _ numbers: [Value]) -> String? {
            let rows = zip(keys, numbers).map { Row(names: ["k", "n"], values: [$0.0, $0.1]) }
            return Chart.points(rows, keyCount: 1).map { Chart.html($0.name, $0.points).text }
        }
        let bars = try #require(drawing(["<a>", "b"], [3, -1.5]))
        #expect(bars.matches(of: /class="bar"/).count == 2)
        #expect(bars.contains("&lt;a&gt;"))
        #expect(bars.contains(">-1.5</text>"))
        #expect(try #require(drawing([1, 2, 3], [3, 4, 5])).contains("class=\"curve\""))
        #expect(try #require(drawing([3, 2, 1], [3, 4, 5])).contains("class=\"bar\""))
        #expect(drawing(["a"], [1]) == nil)
        #expect(drawing(["a", "b"], ["x", "y"]) == nil)
        // Numbers beyond every scale, and none at all.
        for extreme in [Double.infinity, 1e308, -1e308, 0] {
            let html = try #require(
                drawing([1, 2, 3], [.double(extreme), .double(-extreme), .int(1)]))
            #expect(!html.contains("nan") && !html.contains("inf"))
        }
    }

    @Test("a number is grouped by thousands")
    func numbers() {
        #expect(grouped(0) == "0")
        #expect(grouped(-1_234_567) == "-1\u{202F}234\u{202F}567")
        #expect(grouped(.min).hasPrefix("-9\u{202F}223"))
    }
}
