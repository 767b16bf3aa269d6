import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("an invalid bulk change")
struct BulkErrorTests {
    private let library: Library

    init() throws {
        library = try Library()
        try library.articles(wordCounts: [1, 2])
    }

    private func refusal(
        _ format: String? = nil, _ arguments: QueryArgument...,
        set expressions: KeyValuePairs<String, String> = [:]
    ) throws -> LarderError {
        let selection = ObjectSelection(
            "Article", where: format.map { .format($0) }, arguments: arguments)
        return try library.refusal(
            .updateAll(
                selection, set: expressions.map { PropertyAssignment($0.key, .format($0.value)) }))
    }

    @Test("the error of a bulk change has the column of the invalid predicate or expression")
    func columns() throws {
        let predicate = try refusal("wordCount > 1 AND nonsense == 2")
        #expect(predicate.code == .unknownProperty)
        #expect(predicate.message.hasPrefix("predicate, column 19: "))
        #expect(predicate.column == 19)
        let syntax = try refusal(nil, set: ["wordCount": "wordCount * "])
        #expect(syntax.code == .malformedPredicate)
        #expect(syntax.message.hasPrefix("value of wordCount, column 13: "))
        let unknown = try refusal(nil, set: ["small": "1", "wordCount": "2 + nothing"])
        #expect(unknown.message.hasPrefix("value of wordCount, column 5: "))
        let argument = try refusal("wordCount == %@", "x")
        #expect(argument.code == .wrongType)
        #expect(argument.column == 14)
    }

    @Test("an invalid bulk change is rejected with its index, together with other errors")
    func errorColumns() throws {
        let error = try library.refusal(
            .updateAll("Article", where: "wordCount = = 1", set: [:]),
            .deleteAll("Nothing"),
            .updateAll("Article", set: ["nothing": "1"]))
        #expect(error.details.map(\.change) == [0, 1, 2])
        #expect(
            error.details.map(\.code) == [.malformedPredicate, .unknownEntity, .unknownProperty])
    }

    @Test("a bulk change whose types do not match is rejected before anything is done")
    func types() throws {
        #expect(try refusal(set: ["wordCount": "title"]).code == .wrongType)
        #expect(try refusal(set: ["wordCount": "price * 2"]).code == .wrongType)
        #expect(
            try refusal(set: ["small": "wordCount / 2.0"]).message
                == "value of small, column 11: Article.small takes an int16, "
                + "but the value is a double")
        #expect(try refusal(set: ["wordCount": "\"x\""]).code == .wrongType)
        #expect(try refusal(set: ["wordCount": "2.5"]).code == .wrongType)
        #expect(try refusal(nil, [1, 2], set: ["wordCount": "%@"]).code == .wrongType)
        #expect(try refusal(set: ["category": "source"]).code == .wrongType)
        #expect(try refusal(set: ["category": "title"]).code == .wrongType)
        #expect(try refusal(set: ["wordCount": "category"]).code == .wrongType)
        #expect(try refusal(set: ["wordCount": "tags"]).code == .wrongType)
        #expect(try refusal(set: ["tags": "nil"]).code == .unsupported)
    }

    @Test("a bulk change with too few, too many or foreign arguments is rejected")
    func arguments() throws {
        #expect(try refusal("wordCount == %@", set: ["small": "%@"]).code == .malformedPredicate)
        #expect(try refusal("wordCount == %@", 1, 2).code == .malformedPredicate)
        #expect(try refusal("wordCount == $x").code == .malformedPredicate)
        let other = try Library()
        let foreign = try other.insert("Category", ["name": "c"])
        #expect(
            try refusal(nil, .value(.object(foreign)), set: ["category": "%@"]).code
                == .foreignIdentifier)
        let stranger = PersistentIdentifier.new("x", "Category")
        #expect(
            try refusal("category == %@", .value(.object(stranger))).code == .invalidChangeSet)
    }

    @Test("a bulk change that sets a property twice is rejected")
    func twice() throws {
        let error = try refusal(set: ["small": "1", "small": "2"])
        #expect(error.code == .invalidChangeSet)
        #expect(error.message == "Article.small is assigned twice")
    }

    @Test("a bulk change whose reply would have too many identifiers is rejected")
    func identifiers() throws {
        let words = try Library(
            schema: Schema(entities: [
                Entity(name: "Word", attributes: [Attribute(name: "n", type: .int64)])
            ]))
        let count = Int64(Limits.affectedIdentifiersMax)
        let inserts = (0...count).map {
            Change.insert(.new("\($0)", "Word"), values: ["n": .int($0)])
        }
        _ = try words.writer.save([ChangeSet(inserts)])[0].get()
        let all = Change.updateAll("Word", identifiers: true, set: ["n": "n + 1"])
        let outcome = words.writer.save([ChangeSet([all])])[0]
        #expect(throws: LarderError.self) { try outcome.get() }
        guard case .failure(let error) = outcome else { return }
        #expect(error.code == .resourceExhausted)
        #expect(try words.readConnection.integer("SELECT max(_version) FROM Word") == 1)
        let fewer = Change.updateAll(
            "Word", where: "n > 0", identifiers: true, set: ["n": "n + 1"])
        #expect(try words.saved(fewer).affected[0].identifiers.count == Int(count))
    }

    @Test("more bulk changes in one set than the maximum are rejected")
    func limit() throws {
        let change = Change.deleteAll("Cover")
        let most = Array(repeating: change, count: Limits.bulkChangesMax)
        #expect(try library.writer.save([ChangeSet(most)])[0].get().affected.count == most.count)
        #expect(
            try library.refusal(of: ChangeSet(most + [change]))?.code == .resourceExhausted)
    }
}
