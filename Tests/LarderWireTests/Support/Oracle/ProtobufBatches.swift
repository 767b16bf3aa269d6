import CLarderProto
import LarderModel

/// Decodes batches with protobuf-c.
enum ProtobufBatches {
    /// - Returns: nil for bytes that protobuf-c rejects, or whose batches do not pass their check.
    static func batches(_ bytes: [UInt8]) -> [Batch]? {
        guard let reply = larder__v1__batches_reply__unpack(nil, bytes.count, bytes) else {
            return nil
        }
        defer { larder__v1__batches_reply__free_unpacked(reply, nil) }
        var batches: [Batch] = []
        for item in UnsafeBufferPointer(
            start: reply.pointee.batches, count: reply.pointee.n_batches)
        {
            guard let item, let batch = batch(item.pointee), (try? batch.check()) != nil else {
                return nil
            }
            batches.append(batch)
        }
        return batches
    }

    static func batch(_ wire: Larder__V1__Batch) -> Batch? {
        var columns: [Column] = []
        for item in UnsafeBufferPointer(start: wire.columns, count: wire.n_columns) {
            guard let item, let column = column(item.pointee) else { return nil }
            columns.append(column)
        }
        var batch = Batch(rowCount: Int(wire.row_count), columns: columns)
        if let identity = wire.identity?.pointee {
            guard let name = text(identity.entity), !name.isEmpty,
                let subentities = subentities(
                    identity.subentities, identity.n_subentities, identity.entity_indexes,
                    identity.n_entity_indexes)
            else { return nil }
            batch.identity = Batch.Identity(
                entityName: name, keys: numbers(identity.keys, identity.n_keys),
                versions: numbers(identity.versions, identity.n_versions),
                subentities: subentities)
        }
        guard let prefetchPath = text(wire.related_by) else { return nil }
        batch.prefetchPath = prefetchPath.isEmpty ? nil : prefetchPath
        return batch.rowCount > 0 && batch.identity == nil && columns.isEmpty ? nil : batch
    }

    private static func column(_ wire: Larder__V1__Column) -> Column? {
        guard let name = text(wire.name), let entity = text(wire.entity),
            let subentities = subentities(
                wire.subentities, wire.n_subentities, wire.entity_indexes, wire.n_entity_indexes)
        else { return nil }
        // In the order of their numbers in Proto/batch.proto.
        let types: [AttributeType] = [
            .bool, .int16, .int32, .int64, .float, .double, .decimal, .string, .date, .uuid, .url,
            .data, .json,
        ]
        let integers: [Int64] = numbers(wire.integers, wire.n_integers)
        let ends: [UInt32] = numbers(wire.ends, wire.n_ends)
        let number = Int(wire.type.rawValue)
        let kind: Column.Kind
        switch number {
        case 1...types.count: kind = .attribute(types[number - 1])
        case 14...15 where entity.isEmpty: return nil
        case 14: kind = .object(entityName: entity)
        case 15: kind = .objects(entityName: entity)
        default: return nil
        }
        let storage: Column.Storage =
            switch number {
            case 5, 6, 9: .doubles(numbers(wire.doubles, wire.n_doubles))
            case 7...13: .bytes(heap: bytes(wire.heap), ends: ends)
            case 15: .lists(keys: integers, ends: ends)
            default: .integers(integers)
            }
        return Column(
            name: name, kind: kind, storage: storage, nulls: bytes(wire.nulls),
            subentities: subentities)
    }

    private static func subentities(
        _ names: UnsafeMutablePointer<ProtobufCBinaryData>?, _ nameCount: Int,
        _ indexes: UnsafeMutablePointer<UInt32>?, _ indexCount: Int
    ) -> Subentities? {
        let texts = numbers(names, nameCount).map(text)
        guard !texts.contains(nil) else { return nil }
        return Subentities(names: texts.compactMap { $0 }, indexes: numbers(indexes, indexCount))
    }

    private static func text(_ wire: ProtobufCBinaryData) -> String? {
        String(validating: bytes(wire), as: UTF8.self)
    }

    private static func bytes(_ wire: ProtobufCBinaryData) -> [UInt8] {
        numbers(wire.data, wire.data == nil ? 0 : wire.len)
    }

    private static func numbers<Number>(
        _ items: UnsafeMutablePointer<Number>?, _ count: Int
    ) -> [Number] {
        Array(UnsafeBufferPointer(start: items, count: items == nil ? 0 : count))
    }
}
