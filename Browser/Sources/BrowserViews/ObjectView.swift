public import HTMLPages
import LarderClient

/// An object with everything that its page shows.
public struct ObjectPage: Sendable {
    /// An attribute or a to-one relationship.
    public struct Property: Sendable {
        public var name: String
        /// The type, and what the schema says of the values: `string, optional`.
        public var details: String
        public var value: ShownValue

        public init(name: String, details: String, value: ShownValue) {
            self.name = name
            self.details = details
            self.value = value
        }
    }

    /// The objects of a to-many relationship, or those that refer to the object.
    public struct List: Sendable {
        /// `articles`, or `Article.category` of objects that refer to the object.
        public var name: String
        public var details: String
        public var count: Int64
        /// The first of them.
        public var objects: [ShownObject]
        /// The address of all of them; nil if no query selects them.
        public var address: String?

        public init(
            name: String, details: String, count: Int64, objects: [ShownObject], address: String?
        ) {
            self.name = name
            self.details = details
            self.count = count
            self.objects = objects
            self.address = address
        }
    }

    public var object: ShownObject
    public var version: Int64
    public var properties: [Property]
    public var lists: [List]
    /// References by relationships without an inverse.
    public var references: [List]

    public init(
        object: ShownObject, version: Int64, properties: [Property], lists: [List],
        references: [List]
    ) {
        self.object = object
        self.version = version
        self.properties = properties
        self.lists = lists
        self.references = references
    }
}

/// A whole page of an object, without the frame.
public func objectView(_ page: ObjectPage, isEditable: Bool) -> HTML {
    let identifier = page.object.identifier
    let editing: HTML =
        isEditable
        ? """
        <a class="button" href="\(Link.edit(identifier))">Edit</a>
        <a class="button danger" href="\(Link.delete(identifier))">Delete…</a>
        """ : ""
    return """
        <p class="path"><a href="\(Link.entities)">Entities</a> ›
        <a href="\(Link.rows(of: identifier.entityName))">\(identifier.entityName)</a></p>
        <h1>\(page.object.text)</h1>
        <div id="notice" role="status"></div>
        <p class="links" id="actions"><a href="\(Link.history(of: identifier))">History</a>
        \(editing)</p>
        <div id="object">
        \(objectValues(page))
        </div>
        """
}

/// The values of an object alone, which a live page replaces.
public func objectValues(_ page: ObjectPage) -> HTML {
    let identifier = page.object.identifier
    let rows = page.properties.map { property -> HTML in
        """
        <div data-name="\(property.name)"><dt>\(property.name)\
        <span class="quiet">\(property.details)</span></dt>
        <dd>\(property.value.whole(at: Link.value(property.name, of: identifier)))</dd></div>
        """
    }
    return """
        <dl class="values">
        \(rows)
        </dl>
        \(lists("Related objects", page.lists))
        \(lists("Referred to by", page.references))
        <p class="quiet">Version \(page.version) ·
        <code>\(identifier.uriRepresentation)</code></p>
        """
}

private func lists(_ title: HTML, _ lists: [ObjectPage.List]) -> HTML {
    guard !lists.isEmpty else { return "" }
    return "<h2>\(title)</h2>\n\(lists.map { list($0) })"
}

private func list(_ list: ObjectPage.List) -> HTML {
    let items = list.objects.map { "<li>\($0.link)</li>" as HTML }
    let others = list.count - Int64(list.objects.count)
    var more: HTML = ""
    if others > 0 {
        more =
            list.address.map { "<li><a href=\"\($0)\">all \(grouped(list.count))</a></li>" }
            ?? "<li class=\"quiet\">and \(grouped(others)) more</li>"
    }
    let count = grouped(list.count)
    let number: HTML = list.address.map { "<a href=\"\($0)\">\(count)</a>" } ?? "\(count)"
    return """
        <section class="list" data-name="\(list.name)"><h3>\(list.name) \(number)
        <span class="quiet">\(list.details)</span></h3>
        <ul class="objects">\(items)\(more)</ul></section>
        """
}

/// The notice of a page whose object somebody else has deleted.
public func deletionNotice() -> HTML {
    """
    <p class="notice">This object was deleted. The page shows its last values.</p>
    """
}
