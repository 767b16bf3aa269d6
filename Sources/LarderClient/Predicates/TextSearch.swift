public import FoundationEssentials
public import LarderModel
import LarderQuery

/// A search for words in the texts of an entity: `SEARCH` and `score`, for `#Predicate`, sort keys
/// and `#Expression`.
///
///     let search = try TextSearch("larder -redis", in: \Article.title, \Article.body)
///     let found = try client.fetch(
///         where: #Predicate<Article> { search.contains($0) && $0.wordCount > 100 },
///         sort: [search.bestFirst], limit: 20)
///
/// An index of words of these attributes decides it; without one, the words of every text are
/// compared.
public struct TextSearch<Entity: QueryableEntity>: Sendable {
    /// The search text: words, `"phrases"`, `-excluded` words, `begin*`, OR.
    public let words: String
    /// The attributes, as the schema names them.
    let names: [String]
    private let keyPaths: [any PartialKeyPath<Entity> & Sendable]
    private let text: SearchText

    /// - Parameters:
    ///   - words: The search text.
    ///   - keyPaths: The attributes, each a String or an optional String. The words may be in
    ///     different ones.
    /// - Throws: `malformedValue` for a search text that has no meaning, such as an open quotation
    ///   mark; `resourceExhausted` for one with too many words; `unsupportedPredicate` for a key
    ///   path that the entity does not declare; `wrongType` for one without texts.
    public init(
        _ words: String, in keyPaths: (any PartialKeyPath<Entity> & Sendable)...
    ) throws(LarderError) {
        var names: [String] = []
        for keyPath in keyPaths {
            guard case .named(let name)? = Entity.property(at: keyPath) else {
                throw LarderError(
                    .unsupportedPredicate,
                    "\(Entity.entityName) does not declare the attribute \(keyPath)")
            }
            let type = Swift.type(of: keyPath).valueType
            guard type == String.self || type == String?.self else {
                throw LarderError(
                    .wrongType, "only a string is searched, not \(name), whose type is \(type)")
            }
            names.append(name)
        }
        guard !names.isEmpty else {
            throw LarderError(.malformedValue, "a search names at least one attribute")
        }
        self.words = words
        self.names = names
        self.keyPaths = keyPaths
        text = try SearchText(words)
    }

    /// Whether the texts of an object have the words, as the store decides it.
    public func contains(_ object: Entity) -> Bool { search(in: object).holds }

    /// How well the texts of an object have the words, as the store computes it; 0 if they do not.
    public func score(of object: Entity) -> Double { search(in: object).score }

    /// The score as an expression of the store.
    public var score: Expression<Entity, Double> {
        Expression { object in
            PredicateExpressions.TextSearchScore(
                search: PredicateExpressions.Value(self), object: object)
        }
    }

    /// A sort key with the best objects first. The search text is part of the query, not an
    /// argument.
    public var bestFirst: SortKey {
        let texts = names.map { QueryExpression.keyPath(.object, [$0]) }
        return SortKey(
            .tree(.function(.score, texts + [.constant(.string(words))])), descending: true)
    }

    private func search(in object: Entity) -> WordSearch {
        let search = WordSearch(text)
        search.begin()
        for keyPath in keyPaths {
            guard let text = object[keyPath: keyPath] as? String else { continue }
            search.read(Array(text.utf8).span)
        }
        return search
    }
}

/// A predicate that contains a search must be Codable, but key paths cannot be encoded.
extension TextSearch: Codable {
    /// - Throws: `EncodingError`, always.
    public func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(
            self,
            EncodingError.Context(
                codingPath: encoder.codingPath,
                debugDescription: "a search has key paths, which cannot be encoded"))
    }

    /// - Throws: `DecodingError`, always.
    public init(from decoder: any Decoder) throws {
        throw DecodingError.dataCorrupted(
            DecodingError.Context(
                codingPath: decoder.codingPath,
                debugDescription: "a search has key paths, which cannot be decoded"))
    }
}
