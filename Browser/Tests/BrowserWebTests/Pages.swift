import BrowserWeb
import Hummingbird
import LarderClient
import Logging
import NIOEmbedded

/// The pages of a store without a network: requests in, responses out.
struct Pages: Sendable {
    struct Answer: Sendable {
        var status: Int
        var headers: HTTPFields
        var text: String
        var bytes: [UInt8]
    }

    let browse: Browse
    let access: Access
    private let responder: RouterResponder<BasicRequestContext>

    init(
        _ client: StoreClient, hasty: StoreClient, isEditable: Bool = false,
        needsKey: Bool = false
    ) {
        access = Access(needsKey: needsKey)
        browse = Browse(
            client: client, hastyClient: hasty, storeName: "test", isEditable: isEditable,
            access: access)
        responder = browseRouter(browse).buildResponder()
    }

    func get(
        _ path: String, host: String = "localhost", headers: HTTPFields = [:]
    ) async throws -> Answer {
        try await send(.get, path, host: host, headers: headers)
    }

    func post(
        _ path: String, _ form: [(String, String)], headers: HTTPFields = [:]
    ) async throws -> Answer {
        let body = form.map { "\(Self.encoded($0.0))=\(Self.encoded($0.1))" }
        return try await send(
            .post, path, host: "localhost", headers: headers, body: body.joined(separator: "&"))
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, host: String, headers: HTTPFields = [:],
        body: String = ""
    ) async throws -> Answer {
        let request = Request(
            head: HTTPRequest(
                method: method, scheme: "http", authority: host, path: path,
                headerFields: headers),
            body: RequestBody(buffer: ByteBuffer(string: body)))
        let context = BasicRequestContext(
            source: ApplicationRequestContextSource(
                channel: EmbeddedChannel(), logger: Logger(label: "test")))
        let response = try await responder.respond(to: request, context: context)
        let collected = Collected()
        try await response.body.write(Writer(collected: collected))
        let bytes = await collected.bytes
        return Answer(
            status: Int(response.status.code), headers: response.headers,
            text: String(decoding: bytes, as: UTF8.self), bytes: bytes)
    }

    static func encoded(_ text: String) -> String {
        text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private actor Collected {
        var bytes: [UInt8] = []
        func add(_ buffer: ByteBuffer) { bytes += buffer.readableBytesView }
    }

    private struct Writer: ResponseBodyWriter {
        let collected: Collected
        func write(_ buffer: ByteBuffer) async throws { await collected.add(buffer) }
        func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }
}

/// A filled store and its pages.
struct FilledStore: Sendable {
    let server: StoreServer
    let client: StoreClient
    let pages: Pages

    init(isEditable: Bool = false, needsKey: Bool = false) async throws {
        server = try await StoreServer()
        client = try await server.connect()
        try await client.fill()
        pages = Pages(
            client, hasty: client, isEditable: isEditable, needsKey: needsKey)
    }
}
