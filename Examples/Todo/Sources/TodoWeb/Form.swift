import Hummingbird
import TodoValues

/// The fields of a form that a browser has sent.
struct Form {
    /// The largest form in bytes: a title, an identity and a few words.
    static let bytesMax = 16_384

    private let fields: [String: String]

    /// - Throws: ``BadRequest``.
    init(_ request: Request) async throws {
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: Form.bytesMax)
        } catch {
            // The only other reason is a lost connection, on which nobody reads the response.
            throw BadRequest.longForm
        }
        do {
            fields = try URLEncodedFormDecoder().decode(
                [String: String].self, from: String(buffer: body))
        } catch {
            throw BadRequest.malformedForm
        }
    }

    /// The value of a field; empty if the form does not have it.
    subscript(name: String) -> String { fields[name] ?? "" }

    func identity(_ kind: TodoError.Kind, named name: String = "id") throws -> WrappedID {
        guard let id = WrappedID(self[name]) else { throw TodoError.unknown(kind) }
        return id
    }

    func priority() throws -> Priority {
        guard let number = Int(self["priority"]), let priority = Priority(rawValue: number) else {
            throw BadRequest.malformedForm
        }
        return priority
    }
}

extension Request {
    func queryIdentity(_ kind: TodoError.Kind) throws -> WrappedID {
        let text = uri.queryParameters["id"].map(String.init) ?? ""
        guard let id = WrappedID(text) else { throw TodoError.unknown(kind) }
        return id
    }
}
