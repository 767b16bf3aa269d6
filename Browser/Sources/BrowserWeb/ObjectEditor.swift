import BrowserViews
import LarderClient

/// The form of an object: its fields from the schema, their texts from the store or from a browser,
/// and the changes that they mean.
struct ObjectEditor {
    /// A longer value is not edited in a form.
    static let textBytesMax = 65_536
    static let listMax = 200
    private static let suggestionsMax: Int64 = 100

    let client: StoreClient
    let schema: Schema
    let entity: Entity
    /// Nil for a new object.
    let identifier: PersistentIdentifier?

    private var properties: [Property] {
        entity.attributes.map(Property.attribute) + entity.relationships.map(Property.relationship)
    }

    // MARK: - From the store

    /// The form with the values of the object, or with the defaults of a new one.
    func form() async throws -> EditForm {
        guard let identifier else {
            var fields: [FormField] = []
            for property in properties { fields.append(try await field(property, of: nil)) }
            return EditForm(
                entityName: entity.name, identifier: nil, version: 0, fields: fields)
        }
        guard let record = try await client.object(for: identifier) else {
            throw BrowseError.unknownObject(identifier.shortText)
        }
        var fields: [FormField] = []
        for property in properties { fields.append(try await field(property, of: record)) }
        return EditForm(
            entityName: entity.name, identifier: identifier, version: record.version,
            fields: fields)
    }

    private func field(_ property: Property, of record: Record?) async throws -> FormField {
        switch property {
        case .attribute(let attribute): return field(attribute, of: record)
        case .relationship(let relationship):
            return try await field(relationship, of: record)
        }
    }

    private func field(_ attribute: Attribute, of record: Record?) -> FormField {
        let value = record.map { $0[attribute.name] ?? .null } ?? attribute.defaultValue ?? .null
        let text = value.text
        let details =
            attribute.type.rawValue + (attribute.isOptional ? ", optional" : "")
            + (attribute.isUnique ? ", unique" : "")
        var kind: FormField.Kind
        switch attribute.type {
        case .bool: kind = .bool
        case .json, .data: kind = .lines
        case .string:
            let isShort = attribute.validation.maxLength.map { $0 <= 200 } ?? false
            kind = isShort && !text.contains("\n") ? .line : .lines
        default: kind = .line
        }
        var shown = text
        if attribute.isDerived {
            kind = .fixed("The store computes the value.")
        } else if text.utf8.count > Self.textBytesMax {
            kind = .fixed("The value is too long for a form. Use larder update.")
            shown = String(text.prefix(200)) + "…"
        } else if !Self.survivesForm(text) {
            kind = .fixed(
                "The value has control characters, which a form would change. Use larder update.")
        }
        var field = FormField(
            name: attribute.name, kind: kind, details: details, text: shown)
        field.allowsNil = attribute.isOptional
        field.isNil = value.isNull && (record != nil || attribute.isOptional)
        field.wasNil = field.isNil
        return field
    }

    /// Whether a browser sends a text as it has received it.
    private static func survivesForm(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            scalar == "\n" || scalar == "\t" || scalar.properties.generalCategory != .control
        }
    }

    private func field(
        _ relationship: Relationship, of record: Record?
    ) async throws -> FormField {
        let inverse = relationship.inverse.map { ", inverse \($0)" } ?? ""
        let details = "\(relationship.destination), \(relationship.cardinality)\(inverse)"
        guard relationship.isToMany else {
            let value = record?[relationship.name] ?? .null
            var text = ""
            if case .object(let identifier) = value { text = identifier.shortText }
            var field = FormField(
                name: relationship.name, kind: .object, details: details, text: text)
            field.allowsNil = relationship.isOptional
            field.suggestions = try await suggestions(of: relationship.destination)
            return field
        }
        var identifiers: [PersistentIdentifier] = []
        if let identifier {
            let records = try await client.objects(
                for: [identifier], properties: [relationship.name])
            if case .objects(let all)? = records.first?[relationship.name] { identifiers = all }
        }
        let isLong = identifiers.count > Self.listMax
        return FormField(
            name: relationship.name,
            kind: isLong ? .fixed("The list is too long for a form.") : .objects,
            details: details + (relationship.isOrdered ? ", ordered" : ""),
            text: isLong
                ? "\(identifiers.count) objects"
                : identifiers.map(\.shortText).joined(separator: "\n"))
    }

    private func suggestions(of entityName: String) async throws -> [ShownObject] {
        let label = schema.labelAttribute(of: entityName)
        let columns = label.map {
            [QueryColumn(startOf: [$0], characters: 80, name: "label")]
        }
        let fetch = Fetch(
            entityName, selection: columns.map { .columns($0) } ?? .identifiers)
        return try await client.fetch(fetch, QueryParameters(limit: Self.suggestionsMax)).objects
            .map { ShownObject($0.identifier, label: $0["label"]?.text) }
    }

    // MARK: - From a browser

    /// The form with the texts that a browser has sent.
    func form(with sent: Fields) async throws -> EditForm {
        var form = try await form()
        form.version = sent.number("version")
        for index in form.fields.indices {
            if case .fixed = form.fields[index].kind { continue }
            let name = form.fields[index].name
            guard sent.has("v.\(name)") else { continue }
            form.fields[index].text = sent.exact("v.\(name)")
            form.fields[index].originalText = sent.exact("was.\(name)")
            form.fields[index].isNil = sent.has("nil.\(name)")
            form.fields[index].wasNil = sent["wasnil.\(name)"] == "1"
        }
        return form
    }

    /// The values to store: of a new object all, otherwise those that were changed. Problems become
    /// the messages of fields.
    func values(of form: inout EditForm) -> [String: Value] {
        var values: [String: Value] = [:]
        for index in form.fields.indices {
            let field = form.fields[index]
            if case .fixed = field.kind { continue }
            guard identifier == nil || field.isChanged else { continue }
            do {
                if let value = try value(of: field) { values[field.name] = value }
            } catch {
                let hint = error.hintSentence.map { " " + $0 } ?? ""
                form.fields[index].message = error.sentence + hint
            }
        }
        return values
    }

    /// Nil to leave the property out.
    private func value(of field: FormField) throws(LarderError) -> Value? {
        switch entity.property(named: field.name) {
        case .attribute(let attribute):
            if attribute.type == .string {
                // An object that is new has nil where nothing was typed and nil is allowed.
                return field.isNil && field.text.isEmpty ? .null : .string(field.text)
            }
            let text = field.text.trimmed
            guard text.isEmpty else {
                return try Value(text: text, type: attribute.type, assumesUTC: true)
            }
            return attribute.isOptional || identifier != nil ? .null : nil
        case .relationship(let relationship) where relationship.isToMany:
            var identifiers: [PersistentIdentifier] = []
            for word in field.text.split(whereSeparator: \.isWhitespace) {
                identifiers.append(try object(String(word), of: relationship))
            }
            return .objects(identifiers)
        case .relationship(let relationship):
            let text = field.text.trimmed
            return text.isEmpty
                ? (identifier == nil ? nil : .null) : .object(try object(text, of: relationship))
        case nil: return nil
        }
    }

    private func object(
        _ text: String, of relationship: Relationship
    ) throws(LarderError) -> PersistentIdentifier {
        let identifier = try PersistentIdentifier(text: text, in: client.server.storeIdentifier)
        guard schema.isKind(identifier.entityName, of: relationship.destination) else {
            throw LarderError(
                .wrongType, "expected an object of \(relationship.destination)",
                hint: "an identifier looks like \(relationship.destination)/p7")
        }
        return identifier
    }

    // MARK: - Saving

    /// Saves the form, and returns the object; nil if it was refused, and the form says why.
    func save(_ form: inout EditForm) async throws -> PersistentIdentifier? {
        let values = values(of: &form)
        guard form.fields.allSatisfy({ $0.message == nil }) else { return nil }
        do {
            guard let identifier else {
                let new = PersistentIdentifier(temporary: "new", entityName: entity.name)
                let result = try await client.save(ChangeSet([.insert(new, values: values)]))
                return result.inserted.first
            }
            if !values.isEmpty {
                _ = try await client.save(
                    ChangeSet([.update(identifier, ifVersion: form.version, values: values)]))
            }
            return identifier
        } catch {
            if error.code == .versionConflict, identifier != nil {
                try await resolve(&form)
            } else {
                try show(error, in: &form)
            }
            return nil
        }
    }

    /// The problems of a refused save at their fields.
    private func show(_ error: LarderError, in form: inout EditForm) throws {
        guard (300..<400).contains(error.code.rawValue) || error.code == .objectNotFound else {
            throw error
        }
        var isShown = false
        for detail in error.details {
            let names = detail.propertyNames
            for index in form.fields.indices where names.contains(form.fields[index].name) {
                let sentence = LarderError(detail).sentence
                form.fields[index].message = sentence
                isShown = true
            }
        }
        if !isShown { form.messages.append(error.sentence) }
        if let hint = error.hintSentence { form.messages.append(hint) }
    }

    /// Somebody else has changed the object: their values are in the fields that this form has not
    /// changed, and next to those that both have.
    private func resolve(_ form: inout EditForm) async throws {
        let stored = try await self.form()
        form.isConflict = true
        form.version = stored.version
        for index in form.fields.indices {
            guard let now = stored.fields.first(where: { $0.name == form.fields[index].name })
            else { continue }
            let isMine = form.fields[index].isChanged
            let isTheirs =
                now.text != form.fields[index].originalText
                || now.isNil != form.fields[index].wasNil
            if !isMine {
                form.fields[index].text = now.text
                form.fields[index].isNil = now.isNil
            } else if isTheirs {
                form.fields[index].stored = now.isNil ? "nil" : now.text
            }
            form.fields[index].originalText = now.text
            form.fields[index].wasNil = now.isNil
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        guard let start = firstIndex(where: { !$0.isWhitespace }),
            let end = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[start...end])
    }
}
