import LarderModel
import LarderWire

/// Stands for the connection while it is written; see the next commits.
final class Session: Sendable {
    let welcome: Welcome
    init(path: String, options: StoreClient.Options) throws(LarderError) { throw Session.missing }
    init(adopting: Int32, options: StoreClient.Options) throws(LarderError) {
        throw Session.missing
    }
    func close() {}
    var knownSchema: Schema? { nil }
    static var missing: LarderError { LarderError(.unsupported, "not written yet") }
    func perform<Answer>(_ operation: Operation<Answer>) throws(LarderError) -> Answer {
        throw Session.missing
    }
    func perform<Answer>(_ operation: Operation<Answer>) async throws(LarderError) -> Answer {
        throw Session.missing
    }
    func collect<Element>(_ listing: Listing<Element>) throws(LarderError) -> [Element] {
        throw Session.missing
    }
    func collect<Element>(_ listing: Listing<Element>) async throws(LarderError) -> [Element] {
        throw Session.missing
    }
    func stream(_ query: Query, _ parameters: QueryParameters) throws(LarderError) -> BatchStream {
        throw Session.missing
    }
    func stream(
        _ query: Query, _ parameters: QueryParameters
    ) async throws(LarderError) -> BatchStream { throw Session.missing }
}

final class StreamSource: Sendable {
    func next() throws(LarderError) -> Batch? { throw Session.missing }
    func next() async throws(LarderError) -> Batch? { throw Session.missing }
    func cancel() {}
}

enum ServiceThread {
    static func run<R: Sendable>(_ body: @Sendable () -> R) async -> R { body() }
}

extension Operation where Answer == Schema {
    static func schema(rememberedBy session: Session) -> Self {
        Operation(request: .schema) { _, _ throws(LarderError) in throw Session.missing }
    }
}
