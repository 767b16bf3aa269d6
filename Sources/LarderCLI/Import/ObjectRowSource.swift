import FoundationEssentials
import LarderModel
import LarderQuery

/// Makes rows of objects whose lines may name different properties.
///
/// A row cannot refer to an object of its own transaction, nor be longer than a frame. So the rows
/// may end before the first object that names another one of its entity, or that is long;
/// `remaining` has the rest of the objects then.
struct ObjectRowSource<Source: ObjectSource>: RowSource {
    private var source: Source
    private let entity: Entity
    private let schema: Schema
    private let store: UUID
    private let fileName: String
    /// Whether all rows of a batch must name the same properties.
    private let needsEqualProperties: Bool
    private let endsAtOwnNames: Bool
    private let endsAtLongObjects: Bool
    private var related: RelatedObjects
    /// An object that did not fit into the previous batch.
    private var waiting: SourceObject?
    private var hasEnded = false

    init(
        _ source: Source, _ decoder: ObjectDecoder, _ fileName: String, _ insertion: Insertion,
        _ related: RelatedObjects
    ) {
        endsAtLongObjects = !insertion.isAtomic
        endsAtOwnNames = !insertion.isAtomic && decoder.namesOwnObjects
        self.source = source
        self.entity = decoder.entity
        self.schema = decoder.schema
        self.store = decoder.store
        self.fileName = fileName
        // An update keeps the properties that its line does not name.
        needsEqualProperties = insertion.onUniqueConflict == .upsert
        self.related = related
    }

    /// The length of a line above which its object may not fit into a frame.
    private static var rowBytesMax: Int { 8 << 20 }

    /// The objects from the first one that cannot be a row; nil if there is none.
    var remaining: RemainingObjects<Source>? {
        hasEnded ? RemainingObjects(first: waiting, rest: source) : nil
    }

    mutating func next() throws(LarderError) -> SourceRows? {
        let objects = try nextObjects()
        guard !objects.isEmpty else { return nil }
        try related.beginSet(objects.map(\.content))
        var names = Set(objects.flatMap(\.content.values.keys)).sorted()
        if names.isEmpty { names = entity.propertyOfEmptyRows }
        var builder = try RowBuilder(entity, names, in: schema, store: store)
        let defaults = names.map { entity.defaultValue(of: $0) }
        for object in objects {
            do throws(LarderError) {
                let content = try related.resolved(object.content)
                try builder.append(zip(names, defaults).map { content.values[$0] ?? $1 })
            } catch {
                // The whole batch is dropped, including the objects before this one.
                throw error.at(line: object.line, of: fileName)
            }
        }
        return SourceRows(batch: builder.take(), lines: objects.map(\.line))
    }

    private mutating func nextObjects() throws(LarderError) -> [SourceObject] {
        var objects: [SourceObject] = []
        var bytes = 0
        while !hasEnded, let object = try nextObject() {
            if endsAtOwnNames && object.content.names(entity, in: schema)
                || endsAtLongObjects && object.byteCount > Self.rowBytesMax
            {
                waiting = object
                hasEnded = true
                break
            }
            guard object.content.edits.isEmpty else {
                throw LarderError(
                    .wrongType, "a new object takes whole lists of related objects, not edits"
                ).at(line: object.line, of: fileName)
            }
            if isFull(objects, bytes, before: object) {
                waiting = object
                break
            }
            objects.append(object)
            bytes += object.byteCount
        }
        return objects
    }

    private mutating func nextObject() throws(LarderError) -> SourceObject? {
        guard let object = waiting else { return try source.next() }
        waiting = nil
        return object
    }

    private func isFull(
        _ objects: [SourceObject], _ bytes: Int, before object: SourceObject
    ) -> Bool {
        guard let last = objects.last else { return false }
        let hasOtherProperties =
            needsEqualProperties && last.content.values.keys != object.content.values.keys
        return hasOtherProperties || objects.count >= SourceRows.rowsMax
            || bytes + object.byteCount > SourceRows.bytesMax
    }
}

/// An object and those that follow it.
struct RemainingObjects<Source: ObjectSource>: ObjectSource {
    private var first: SourceObject?
    private var rest: Source

    fileprivate init(first: SourceObject?, rest: Source) {
        self.first = first
        self.rest = rest
    }

    mutating func next() throws(LarderError) -> SourceObject? {
        guard let object = first else { return try rest.next() }
        first = nil
        return object
    }
}

extension ObjectContent {
    /// Whether it names an object that may be of an entity, directly or within another object.
    fileprivate func names(_ entity: Entity, in schema: Schema) -> Bool {
        related.contains {
            schema.areRelated($0.entity.name, entity.name) || $0.content.names(entity, in: schema)
        }
    }
}
