import FoundationEssentials
import LarderModel
import LarderQuery

/// The first line of a dump.
struct DumpHeader {
    /// The version of the format that this program writes, and the newest that it reads.
    static let formatVersion: Int64 = 1

    /// The store of which the dump was made, and its last transaction.
    var store: UUID
    var transaction: Int64
    /// The time at which the dump was begun.
    var time: Date
    var schema: Schema

    var json: JSONValue {
        get throws(LarderError) {
            .object([
                "larderDump": .integer(Self.formatVersion),
                "store": .string(store.uuidString),
                "transaction": Value.int(transaction).jsonValue,
                "time": .string(time.text),
                "schema": try JSONValue(parsing: schema.canonicalText),
            ])
        }
    }

    init(store: UUID, transaction: Int64, time: Date, schema: Schema) {
        self.store = store
        self.transaction = transaction
        self.time = time
        self.schema = schema
    }

    /// - Throws: `malformedValue` if this is not the first line of a dump, `unsupported` for a
    ///   newer format, `malformedSchema` with all problems of the schema.
    init(_ text: String) throws(LarderError) {
        guard case .object(let members)? = try? JSONValue(parsing: text),
            case .integer(let version)? = members["larderDump"]
        else {
            throw LarderError(
                .malformedValue, "the file is not a dump: its first line is not that of a dump",
                hint: "larder dump writes dumps; larder import reads objects of one entity")
        }
        guard version <= Self.formatVersion, version >= 1 else {
            throw LarderError(
                .unsupported,
                "the dump has format \(version); this program reads format \(Self.formatVersion)",
                hint: "use a newer version of larder")
        }
        guard case .string(let storeText)? = members["store"],
            case .uuid(let store)? = try? Value(text: storeText, type: .uuid),
            let transactionJSON = members["transaction"],
            case .int(let transaction)? = try? Value(json: transactionJSON, type: .int64),
            case .string(let timeText)? = members["time"],
            case .date(let time)? = try? Value(text: timeText, type: .date),
            let schema = members["schema"]
        else {
            throw LarderError(
                .malformedValue,
                "the first line of a dump needs the members store, transaction, time and schema")
        }
        self.store = store
        self.transaction = transaction
        self.time = time
        do throws(SchemaError) {
            self.schema = try SchemaFile.schema(parsing: schema.text)
        } catch {
            throw error.larderError
        }
    }
}

/// The last line of a dump, without which it is incomplete.
struct DumpEnd: Equatable {
    static let member = "end"

    /// The numbers of object lines and of link lines.
    var objectCount: Int64 = 0
    var linkCount: Int64 = 0
    /// The hash of all lines before this one; nil if somebody who has edited them has removed it.
    var checksum: String?

    init(objectCount: Int64 = 0, linkCount: Int64 = 0, checksum: String? = nil) {
        self.objectCount = objectCount
        self.linkCount = linkCount
        self.checksum = checksum
    }

    var json: JSONValue {
        var members: [String: JSONValue] = [
            "objects": Value.int(objectCount).jsonValue, "links": Value.int(linkCount).jsonValue,
        ]
        members["checksum"] = checksum.map { .string($0) }
        return .object([Self.member: .object(members)])
    }

    /// - Throws: `malformedValue` if the member is not that of a last line.
    init(_ json: JSONValue) throws(LarderError) {
        guard case .object(let members) = json,
            case .int(let objects)? = try? Value(json: members["objects"] ?? .null, type: .int64),
            case .int(let links)? = try? Value(json: members["links"] ?? .null, type: .int64)
        else {
            throw LarderError(
                .malformedValue, "the last line of a dump needs the numbers `objects` and `links`")
        }
        objectCount = objects
        linkCount = links
        switch members["checksum"] {
        case .string(let text): checksum = text
        case nil, .null: checksum = nil
        default: throw LarderError(.malformedValue, "the checksum must be a string")
        }
    }
}

extension Checksum {
    /// The hash as sixteen hexadecimal digits.
    var text: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
