import FoundationEssentials
import LarderModel
import LarderQuery
import LarderStore

/// The store that ``StoreInput`` damages: every attribute type, form of relationship and index, a
/// subentity and derived attributes.
enum StoreSample {
    private static let schema = """
        {"version":"1.0.0","entities":[
          {"name":"Item","attributes":[
            {"name":"title","type":"string","unique":true},
            {"name":"flag","type":"bool","optional":true},
            {"name":"large","type":"int64","optional":true,"indexed":true},
            {"name":"ratio","type":"float","optional":true},
            {"name":"weight","type":"double","optional":true},
            {"name":"price","type":"decimal","optional":true,"indexed":true},
            {"name":"made","type":"date","optional":true},
            {"name":"code","type":"uuid","optional":true},
            {"name":"link","type":"url","optional":true},
            {"name":"bytes","type":"data","optional":true},
            {"name":"notes","type":"json","optional":true},
            {"name":"tagCount","type":"int64","derived":"tags.@count"}],
           "relationships":[
            {"name":"owner","destination":"Owner","inverse":"items"},
            {"name":"parts","destination":"Item","toMany":true,"ordered":true},
            {"name":"tags","destination":"Tag","toMany":true,"inverse":"items"}]},
          {"name":"Tool","parent":"Item","attributes":[
            {"name":"grade","type":"int16","optional":true}]},
          {"name":"Owner","attributes":[{"name":"name","type":"string"}],
           "relationships":[
            {"name":"items","destination":"Item","toMany":true,"ordered":true,
             "inverse":"owner","deleteRule":"cascade"}]},
          {"name":"Tag","attributes":[{"name":"name","type":"string"}],
           "relationships":[
            {"name":"items","destination":"Item","toMany":true,"inverse":"tags"}]}]}
        """

    /// The schema, and one with another attribute.
    static let schemas = [
        schema,
        schema.replacing(#""version":"1.0.0""#, with: #""version":"1.1.0""#).replacing(
            #"{"name":"grade","#,
            with: #"{"name":"rank","type":"int64","optional":true},{"name":"grade","#),
    ]

    static func create(at path: String) throws {
        let store = try Store.open(path: path, schema: SchemaFile.schema(parsing: schema))
        let writer = try store.makeWriter()
        defer { writer.close() }
        for result in writer.save([ChangeSet(inserts)]) { _ = try result.get() }
    }

    private static func new(_ entityName: String, _ number: Int) -> PersistentIdentifier {
        PersistentIdentifier(temporary: "\(entityName)\(number)", entityName: entityName)
    }

    private static var inserts: [Change] {
        let tags = (0..<4).map { new("Tag", $0) }
        let items = (0..<12).map { new($0 % 3 == 0 ? "Tool" : "Item", $0) }
        return tags.enumerated().map { .insert($1, values: ["name": .string("tag \($0)")]) }
            + items.enumerated().map { number, item in
                var values = values(number)
                values["tags"] = .objects(Array(tags.prefix(number % 4)))
                values["parts"] = .objects(Array(items.suffix(number % 3)))
                return .insert(item, values: values)
            }
            + (0..<3).map { number in
                let owned = items.enumerated().filter { $0.offset % 4 == number }.map(\.element)
                return .insert(
                    new("Owner", number),
                    values: ["name": .string("owner \(number)"), "items": .objects(owned)])
            }
    }

    private static func values(_ number: Int) -> [String: Value] {
        var values: [String: Value] = ["title": .string("item \(number)")]
        if number % 4 == 3 { return values }
        values["flag"] = .bool(number.isMultiple(of: 2))
        values["large"] = .int(Int64(number) << 40)
        values["ratio"] = .float(Float(number) / 4)
        values["weight"] = .double(Double(number) / 3)
        values["price"] = .decimal(Decimal(number) / 8)
        values["made"] = .date(Date(timeIntervalSinceReferenceDate: Double(number) * 1e6))
        values["code"] = .uuid(UUID(uuid: (7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
        values["link"] = URL(string: "https://example.org/\(number)").map { .url($0) }
        // Longer than a page, so that the file has overflow pages.
        values["bytes"] = .data(Data(repeating: UInt8(number), count: number == 5 ? 6_000 : 20))
        values["notes"] = .json(#"{"a":[1,null,"x"]}"#)
        return values
    }

    /// Change sets that write every table of the sample.
    static func changes(of existing: [PersistentIdentifier], _ schema: Schema) -> [ChangeSet] {
        let item = new("Item", 0)
        let insert = Change.insert(
            item, values: ["title": "new", "tags": .objects([new("Tag", 0)])])
        let tag = Change.insert(new("Tag", 0), values: ["name": "new"])
        var sets = [ChangeSet([insert, tag])]
        for entity in schema.entities {
            let objects = existing.filter { $0.entityName == entity.name }
            if let first = objects.first, let name = entity.attributes.first?.name {
                let update = Change.update(first, ifVersion: nil, values: [name: "changed"])
                sets.append(ChangeSet([update]))
            }
            if let last = objects.last { sets.append(ChangeSet([.delete(last, ifVersion: nil)])) }
            sets.append(
                ChangeSet([
                    .deleteAll(ObjectSelection(entity.name, where: .format("SELF == NULL")))
                ]))
        }
        return sets
    }
}
