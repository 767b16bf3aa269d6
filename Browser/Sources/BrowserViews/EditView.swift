public import HTMLPages
public import LarderClient

/// A field of the form for an object.
public struct FormField: Sendable {
    public enum Kind: Equatable, Sendable {
        case line, lines, bool
        /// The short identifier of an object.
        case object
        /// Short identifiers, one per line.
        case objects
        /// A value that the form does not change, and the reason.
        case fixed(String)
    }

    public var name: String
    public var kind: Kind
    /// The type, and what the schema says of the values.
    public var details: String
    /// The text of the field, and that of the value as it was read.
    public var text: String
    public var originalText: String
    /// Whether the value is nil, which is not the empty text; and whether it can be.
    public var isNil = false
    public var wasNil = false
    public var allowsNil = false
    /// The problem with the text.
    public var message: String?
    /// The value that somebody else has stored meanwhile.
    public var stored: String?
    /// Objects that the field suggests, with their labels.
    public var suggestions: [ShownObject] = []

    public init(name: String, kind: Kind, details: String, text: String) {
        self.name = name
        self.kind = kind
        self.details = details
        self.text = text
        originalText = text
    }

    public var isChanged: Bool { text != originalText || isNil != wasNil }
}

/// The form for a new or an existing object.
public struct EditForm: Sendable {
    public var entityName: String
    /// Nil for a new object.
    public var identifier: PersistentIdentifier?
    public var version: Int64
    public var fields: [FormField]
    /// Problems that are those of no field.
    public var messages: [String] = []
    /// Whether somebody else has changed the object since it was read.
    public var isConflict = false

    public init(
        entityName: String, identifier: PersistentIdentifier?, version: Int64, fields: [FormField]
    ) {
        self.entityName = entityName
        self.identifier = identifier
        self.version = version
        self.fields = fields
    }
}

public func editView(_ form: EditForm) -> HTML {
    let title: HTML =
        form.identifier.map { "Edit <a href=\"\(Link.object($0))\">\($0.shortText)</a>" }
        ?? "New \(form.entityName)"
    let action = form.identifier.map { Link.edit($0) } ?? Link.new(form.entityName)
    let back = form.identifier.map { Link.object($0) } ?? Link.rows(of: form.entityName)
    let messages = form.messages.map { "<p class=\"error\" role=\"alert\">\($0)</p>" as HTML }
    let conflict: HTML =
        form.isConflict
        ? """
        <div class="notice" role="alert" id="conflict">Somebody else has changed this object \
        since you have opened the form. Fields that you have not changed show the new values. \
        Where both have changed, the stored value is below the field. Save again to store yours, \
        or <a href="\(action)">discard your changes</a>.</div>
        """ : ""
    let button = form.isConflict ? "Save mine" : "Save"
    return """
        <h1>\(title)</h1>
        \(messages)\(conflict)
        <form class="fields" method="post" action="\(action)">
        <input type="hidden" name="version" value="\(form.version)">
        \(form.fields.map(fieldView))
        <p class="links"><button class="primary">\(button)</button>
        <a href="\(back)">Cancel</a></p></form>
        """
}

private func fieldView(_ field: FormField) -> HTML {
    let id = "v.\(field.name)"
    let isInvalid: HTML =
        field.message == nil
        ? "" : " aria-invalid=\"true\" aria-describedby=\"message.\(field.name)\""
    let message: HTML? = field.message.map {
        "<p class=\"message\" id=\"message.\(field.name)\">\($0)</p>"
    }
    let stored: HTML? = field.stored.map {
        "<p class=\"notice stored\">Stored meanwhile: <span class=\"text\">\($0)</span></p>"
    }
    let control: HTML
    switch field.kind {
    case .line, .object:
        control = """
            <input id="\(id)" name="\(id)" value="\(exactly: field.text)" autocomplete="off" \
            spellcheck="false"\(list(field))\(isInvalid)>
            """
    case .lines, .objects:
        // A browser leaves out a line end at the beginning.
        control = """
            <textarea id="\(id)" name="\(id)" spellcheck="false"\(isInvalid)>
            \(exactly: field.text)</textarea>
            """
    case .bool: control = choice(field, id, isInvalid)
    case .fixed(let reason):
        return """
            <div class="field" data-name="\(field.name)"><b>\(field.name)</b>
            <span class="quiet">\(field.details)</span><br><span class="text">\(field.text)</span>
            <p class="quiet">\(reason)</p></div>
            """
    }
    return """
        <div class="field" data-name="\(field.name)"><label for="\(id)">\(field.name)
        <span class="quiet">\(field.details)</span></label>
        \(control)\(suggestions(field))\(nilBox(field))\(message)\(stored)
        <input type="hidden" name="was.\(field.name)" value="\(exactly: field.originalText)">\
        <input type="hidden" name="wasnil.\(field.name)" value="\(field.wasNil ? "1" : "")"></div>
        """
}

private func choice(_ field: FormField, _ id: String, _ isInvalid: HTML) -> HTML {
    let values = (field.allowsNil ? [("", "nil")] : []) + [("true", "true"), ("false", "false")]
    let options = values.map { value, label -> HTML in
        let isSelected: HTML = value == field.text ? " selected" : ""
        return "<option value=\"\(value)\"\(isSelected)>\(label)</option>"
    }
    return "<select id=\"\(id)\" name=\"\(id)\"\(isInvalid)>\(options)</select>"
}

/// Only an empty text differs from nil; an empty field of another type is nil.
private func nilBox(_ field: FormField) -> HTML {
    guard field.allowsNil, field.kind == .line || field.kind == .lines,
        field.details.hasPrefix("string")
    else { return "" }
    let isChecked: HTML = field.isNil ? " checked" : ""
    return """
        <label class="nil-box"><input type="checkbox" name="nil.\(field.name)" value="1"\
        \(isChecked)> nil</label>
        """
}

private func list(_ field: FormField) -> HTML {
    field.suggestions.isEmpty ? "" : " list=\"objects.\(field.name)\""
}

private func suggestions(_ field: FormField) -> HTML {
    guard !field.suggestions.isEmpty else { return "" }
    let options = field.suggestions.map { object -> HTML in
        "<option value=\"\(object.identifier.shortText)\">\(object.text)</option>"
    }
    return "<datalist id=\"objects.\(field.name)\">\(options)</datalist>"
}

// MARK: - Deletion

/// The other changes that a deletion would make.
public struct DeletionPreview: Sendable {
    public var object: ShownObject
    public var version: Int64
    /// The objects that would be deleted, by entity, without the object itself.
    public var deleted: [(entityName: String, count: Int, examples: [ShownObject])] = []
    /// Relationships that would lose objects, such as `Tag.books`, and how many objects.
    public var nullified: [(name: String, count: Int64)] = []
    /// Relationships that forbid the deletion, and how many objects are in them.
    public var denied: [(name: String, count: Int64)] = []
    /// Whether there are more objects than were counted.
    public var isIncomplete = false
    /// Why the deletion was refused.
    public var message: String?

    public init(object: ShownObject, version: Int64) {
        self.object = object
        self.version = version
    }
}

public func deletionView(_ preview: DeletionPreview) -> HTML {
    let identifier = preview.object.identifier
    let deleted = preview.deleted.map { entityName, count, examples -> HTML in
        let others = count - examples.count
        let more: HTML = others > 0 ? " and \(others) more" : ""
        return """
            <li>\(count) \(entityName): \(examples.map(\.link).joined(separator: ", "))\(more)</li>
            """
    }
    let cascade: HTML =
        deleted.isEmpty
        ? "<p>No other object is deleted.</p>"
        : "<h2>These are deleted too</h2>\n<ul id=\"cascade\">\(deleted)</ul>"
    let incomplete: HTML =
        preview.isIncomplete
        ? """
        <p class="notice">There are more objects than this page counts. All of them would be \
        deleted.</p>
        """ : ""
    let message: HTML? = preview.message.map { "<p class=\"error\" role=\"alert\">\($0)</p>" }
    return """
        <h1>Delete \(preview.object.link)?</h1>
        \(message)
        \(names("Not allowed, because these refer to it by the delete rule deny", preview.denied))
        \(cascade)\(incomplete)
        \(names("These no longer refer to what is deleted", preview.nullified))
        <form method="post" action="\(Link.delete(identifier))">
        <input type="hidden" name="version" value="\(preview.version)">
        <p class="links"><button class="danger">Delete</button>
        <a href="\(Link.object(identifier))">Cancel</a></p></form>
        """
}

private func names(_ title: HTML, _ names: [(name: String, count: Int64)]) -> HTML {
    guard !names.isEmpty else { return "" }
    let items = names.map { "<li>\($0.name): \(grouped($0.count))</li>" as HTML }
    return "<h2>\(title)</h2>\n<ul>\(items)</ul>"
}
