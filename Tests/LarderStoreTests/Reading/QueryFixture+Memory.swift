import LarderModel
import LarderStore
import QueryScripts

extension QueryFixture {
    /// A fixture over a store in memory.
    convenience init(_ schema: Schema) throws { try self.init(Store.inMemory(schema: schema)) }
}
