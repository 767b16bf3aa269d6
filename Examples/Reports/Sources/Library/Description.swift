import Foundation
public import LarderData

/// Why an object is not shown.
public enum LibraryError: Error, Equatable, CustomStringConvertible {
    case notIdentifier(String)
    case notFound(String)

    public var description: String {
        switch self {
        case .notIdentifier(let text): "\"\(text)\" is not the URI of an object"
        case .notFound(let what): "the library has no \(what)"
        }
    }
}

extension ModelContext {
    /// Describes the object with a URI, which may come from another process.
    ///
    /// - Throws: ``LibraryError`` if the text is not a URI, or there is no such object.
    public func describe(uri text: String) throws -> String {
        guard let id = try? PersistentIdentifier(uriRepresentation: text) else {
            throw LibraryError.notIdentifier(text)
        }
        let description: String? =
            switch id.entityName {
            case Article.entityName:
                (try existingModel(for: id) as Article?)?.summary
            case Author.entityName:
                (try existingModel(for: id) as Author?).map {
                    Self.named("Author", $0.name, $0.articles)
                }
            case Category.entityName:
                (try existingModel(for: id) as Category?).map {
                    Self.named("Category", $0.name, $0.articles)
                }
            case ReadingList.entityName:
                (try existingModel(for: id) as ReadingList?).map {
                    Self.named("List", $0.name, $0.articles)
                }
            default: nil
            }
        guard let description else { throw LibraryError.notFound("object \(text)") }
        return description
    }

    private static func named(_ kind: String, _ name: String, _ articles: [Article]) -> String {
        let titles = articles.map(\.title).sorted().map { "  \($0)" }
        return (["\(kind): \(name)"] + titles).joined(separator: "\n")
    }
}

extension Article {
    fileprivate var summary: String {
        """
        Article: \(title)
          by \(author?.name ?? "nobody"), \(category?.name ?? "no category")
          \(published.formatted(.iso8601.year().month().day())), \(words) words
        """
    }
}
