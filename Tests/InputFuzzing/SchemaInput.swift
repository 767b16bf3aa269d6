import LarderModel
import LarderQuery
import LarderStore

/// The text of a schema file.
///
/// An accepted schema must have a text that parses to it, and a store can be created with it or
/// rejects it as malformed. Every rejection must name a problem.
public struct SchemaInput: FuzzedInput {
    public static let name = "schemas"
    /// Larger schemas create no store, because that takes long.
    private static let storedPropertiesMax = 40

    public init() {}

    public func fault(of bytes: [UInt8]) -> String? {
        let schema: Schema
        do throws(SchemaError) {
            schema = try SchemaFile.schema(parsing: String(decoding: bytes, as: UTF8.self))
        } catch {
            return error.problems.isEmpty ? "a schema is rejected without a reason" : nil
        }
        for text in [schema.canonicalText, schema.fileText] {
            guard let again = try? SchemaFile.schema(parsing: text), again == schema
            else { return "a schema differs after it was written" }
        }
        let properties = schema.entities.reduce(0) {
            $0 + $1.attributes.count + $1.relationships.count
        }
        return properties <= Self.storedPropertiesMax ? Self.faultOfStore(schema) : nil
    }

    private static func faultOfStore(_ schema: Schema) -> String? {
        do {
            let store = try Store.inMemory(schema: schema)
            let findings = try store.makeReader().check(budget: ReadBudget()).findings
            return findings.isEmpty ? nil : "a new store is inconsistent: \(findings)"
        } catch let error as LarderError {
            return error.code == .malformedSchema ? nil : "\(error)"
        } catch {
            return "\(error)"
        }
    }
}
