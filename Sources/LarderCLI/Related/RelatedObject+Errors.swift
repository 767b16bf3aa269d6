import LarderModel

// The errors of a related object that is named by its values. Unlike other errors, they contain
// values, because the name of the missing object is what the user has to correct.

extension RelatedObject {
    /// The error for an object that is not in the store.
    var isMissing: LarderError {
        LarderError(
            .objectNotFound, "\(path): there is no \(entity.name) with \(shownKey)",
            hint: "correct the value, insert the object first, or pass --create-related")
    }

    /// The error for an object that a list contains more than once.
    var isRepeated: LarderError {
        LarderError(
            .invalidChangeSet,
            "\(path): the list names the \(entity.name) with \(shownKey) more than once")
    }

    /// The error for a new object without a value of a required attribute.
    func isIncomplete(_ attribute: String) -> LarderError {
        LarderError(
            .missingValue,
            "\(path): the new \(entity.name) with \(shownKey) requires a value of \(attribute)",
            hint: "give the value too, or insert the object first")
    }

    private var shownKey: String {
        let parts = (constraint ?? []).map { name -> String in
            guard let value = content.values[name] else { return name }
            guard case .object(let identifier) = value else {
                return "\(name) \(Self.shown(value))"
            }
            let part = content.relatedObject(identifier)?.shownKey
            return part.map { "\(name) (\($0))" } ?? "\(name) \(Self.shown(value))"
        }
        return parts.joined(separator: " and ")
    }

    /// The error for values that no uniqueness constraint covers.
    var isNotUnique: LarderError {
        let given = content.values.filter { !$0.value.isNull }.keys.sorted()
        let constraints = entity.uniquenessConstraints.map { $0.joined(separator: " and ") }
        let incomplete = entity.uniquenessConstraints.first { !Set($0).isDisjoint(with: given) }
        let message: String
        if given.isEmpty {
            message =
                "\(path): an object of \(entity.name) has to be named by a value that is not nil"
        } else if let incomplete {
            message =
                "\(path): to find an object of \(entity.name), "
                + "give all of \(incomplete.joined(separator: ", "))"
        } else {
            message =
                "\(path): \(given.joined(separator: ", ")) may be the same for several objects of "
                + entity.name
        }
        return LarderError(
            .invalidChangeSet, message,
            hint: constraints.isEmpty
                ? "\(entity.name) has no uniqueness constraint, so write the URI of the object"
                : "unique in \(entity.name): \(constraints.joined(separator: "; "))")
    }

    /// The error for an object that exists, but of an entity that the relationship does not take.
    func isOfOtherEntity(_ name: String) -> LarderError {
        LarderError(
            .wrongType, "\(path): the object with these values is of \(name), not \(entity.name)")
    }

    /// The error for an object that would be created of an abstract entity.
    func isAbstract(in schema: Schema) -> LarderError {
        let names = schema.entities.filter {
            !$0.isAbstract && schema.isKind($0.name, of: entity.name)
        }.map(\.name)
        return LarderError(
            .unsupported,
            "\(path): \(entity.name) is abstract, so its object cannot be created",
            hint: "name the entity in JSON: \"@entity\": \(names.joined(separator: " or "))")
    }

    /// A value in an error message, in quotation marks if it is text.
    private static func shown(_ value: Value) -> String {
        let text = EscapedText.escaped(String(value.text.prefix(60)))
        switch value {
        case .bool, .int, .float, .double, .decimal: return text
        default: return "\"\(text)\(value.text.count > 60 ? "…" : "")\""
        }
    }
}
