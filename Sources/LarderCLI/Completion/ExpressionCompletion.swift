import LarderModel
import LarderQuery

/// Completes the last name of an expression about an entity.
struct ExpressionCompletion {
    let schema: Schema
    let entity: Entity

    /// The texts that begin with the whole argument and end with a name that fits.
    ///
    /// - Parameter modifiers: What may follow an expression and a colon.
    func completed(_ argument: String, modifiers: [String]) -> [String] {
        guard Self.openLiteral(in: argument) == nil else { return [] }
        let name = argument.suffix(while: { $0.isLetter || $0.isNumber || "_.@".contains($0) })
        let start = argument.dropLast(name.count)
        let isModifier = start.last == ":" && !modifiers.isEmpty
        var names = (isModifier ? modifiers : paths(name)).filter { $0.hasPrefix(name) }
        // Properties hide the many functions that begin like them.
        if names.isEmpty { names = Self.words(like: name).filter { $0.hasPrefix(name) } }
        return names.map { start + $0 }
    }

    /// `name=` of the properties, and `name.` of relationships whose unique values name an object.
    func assignments(_ argument: String) -> [String] {
        guard !argument.contains(".") else {
            return paths(argument[...]).map { $0 + "=" }.filter { $0.hasPrefix(argument) }
        }
        let attributes = entity.attributes.filter { !$0.isDerived }.map { $0.name + "=" }
        let relationships = entity.relationships.flatMap { relationship in
            relationship.isToMany
                ? [relationship.name + ":="] : [relationship.name + "=", relationship.name + "."]
        }
        return (attributes + relationships).filter { $0.hasPrefix(argument) }
    }

    /// The key paths with the relationships that the name begins with.
    private func paths(_ name: Substring) -> [String] {
        var steps = name.split(separator: ".", omittingEmptySubsequences: false)
        let last = steps.popLast() ?? ""
        var entity = entity
        var isToMany = false
        for step in steps {
            guard case .relationship(let relationship)? = entity.property(named: String(step)),
                let destination = schema.entity(named: relationship.destination)
            else { return [] }
            entity = destination
            isToMany = isToMany || relationship.isToMany
        }
        let start = steps.map { $0 + "." }.joined()
        var names = entity.attributes.map(\.name) + entity.relationships.map(\.name)
        if isToMany || last.hasPrefix("@") {
            names += AggregateFunction.allCases.map { "@" + $0.collectionOperator }
        }
        return names.map { start + $0 }
    }

    /// The keywords and functions that begin like a name, in its case.
    private static func words(like name: Substring) -> [String] {
        guard let first = name.first, first.isLetter else { return [] }
        let keywords = FormatKeyword.allCases.map {
            first.isLowercase ? $0.rawValue.lowercased() : $0.rawValue
        }
        let functions = ScalarFunction.allCases.compactMap(\.definition.name).map { $0 + "(" }
        return keywords + functions
    }

    /// The quotation mark that opens the literal at the end of the text; nil if there is none.
    static func openLiteral(in text: String) -> String.Index? {
        var open: String.Index?
        for index in text.indices where text[index] == "\"" || text[index] == "'" {
            if let opening = open {
                if text[opening] == text[index] { open = nil }
            } else {
                open = index
            }
        }
        return open
    }

    /// The attribute at the end of a key path, and the entity of its objects.
    func attribute(at path: String) -> (entity: Entity, attribute: Attribute)? {
        var entity = entity
        var steps = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let last = steps.popLast() ?? ""
        for step in steps {
            guard let next = destination(of: step, in: entity) else { return nil }
            entity = next
        }
        guard case .attribute(let attribute)? = entity.property(named: last) else { return nil }
        return (entity, attribute)
    }

    private func destination(of name: String, in entity: Entity) -> Entity? {
        guard case .relationship(let relationship)? = entity.property(named: name) else {
            return nil
        }
        return schema.entity(named: relationship.destination)
    }
}

extension String {
    /// The longest end of the text whose characters satisfy a condition.
    fileprivate func suffix(while isPart: (Character) -> Bool) -> Substring {
        var start = endIndex
        while start > startIndex, isPart(self[index(before: start)]) {
            formIndex(before: &start)
        }
        return self[start...]
    }
}
