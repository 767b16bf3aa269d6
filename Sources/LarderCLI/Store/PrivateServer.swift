import LarderClient
import LarderModel
struct PrivateServer {
    init(storePath: String, schemaPath: String?) throws {}
    func connect(_ options: StoreClient.Options) throws -> StoreClient { throw LarderError(.unsupported, "stub") }
    func stop() {}
}
