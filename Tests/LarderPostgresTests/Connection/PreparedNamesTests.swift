import Testing

@testable import LarderPostgres

@Suite("Names of prepared statements")
struct PreparedNamesTests {
    private func shape(_ text: String, _ types: PostgresType...) -> PreparedNames.Shape {
        PreparedNames.Shape(text: text, types: types)
    }

    @Test("A shape is prepared once, and one with parameters of other types is another")
    func reuse() {
        var names = PreparedNames(capacity: 10)
        let first = names.use(shape("a", .text))
        #expect(first.steps == [.prepare])
        #expect(names.use(shape("a", .text)).name == first.name)
        #expect(names.use(shape("a", .text)).steps == [])
        let other = names.use(shape("a", .bigint))
        #expect(other.name != first.name)
        #expect(other.steps == [.prepare])
    }

    @Test("The shape that was not used for the longest time is released")
    func release() {
        var names = PreparedNames(capacity: 2)
        let first = names.use(shape("a"))
        let second = names.use(shape("b"))
        _ = names.use(shape("a"))
        #expect(names.use(shape("c")).steps == [.release(name: second.name), .prepare])
        #expect(names.use(shape("a")).steps == [])
        #expect(names.count == 2)
        #expect(names.use(shape("b")).name != second.name)
        #expect(first.name != second.name)
    }

    @Test("In a failed transaction nothing is released, but later")
    func failedTransaction() {
        var names = PreparedNames(capacity: 1)
        let first = names.use(shape("a"))
        let second = names.use(shape("b"), releases: false)
        #expect(second.steps == [.prepare])
        #expect(
            names.use(shape("c")).steps
                == [.release(name: first.name), .release(name: second.name), .prepare])
    }

    @Test("A shape that could not be prepared is prepared again, and a name is never used twice")
    func failures() {
        var names = PreparedNames(capacity: 1)
        let first = names.use(shape("a"))
        names.remove(shape("a"))
        let second = names.use(shape("a"))
        #expect(second.steps == [.prepare])
        #expect(second.name != first.name)
        let third = names.use(shape("b"))
        #expect(third.steps == [.release(name: second.name), .prepare])
        names.keepUnused(second.name)
        #expect(names.use(shape("c")).steps.first == .release(name: second.name))
    }
}
