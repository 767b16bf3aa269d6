internal import CLarderProto
internal import LarderModel

extension QueryPredicate {
    static func optional(
        _ wire: UnsafeMutablePointer<Larder__V1__Predicate>?
    ) throws(LarderError) -> QueryPredicate? {
        guard let wire = wire?.pointee else { return nil }
        switch wire.form_case {
        case LARDER__V1__PREDICATE__FORM_FORMAT:
            return .format(try wire.format.text("a predicate", bytesMax: Limits.predicateBytesMax))
        case LARDER__V1__PREDICATE__FORM_TREE:
            guard let tree = wire.tree else { break }
            return .tree(try ExpressionBuilder.build(tree.pointee))
        default:
            break
        }
        throw MessageReader.malformed("a predicate has no form that is known")
    }
}

extension SortKey {
    init(_ wire: Larder__V1__SortKey) throws(LarderError) {
        self.init(try wire.key_path.keyPath("a sort key"), descending: wire.descending != 0)
    }

    static func list(
        _ items: UnsafeMutablePointer<UnsafeMutablePointer<Larder__V1__SortKey>?>?, _ count: Int
    ) throws(LarderError) -> [SortKey] {
        try MessageReader.list(
            items, count, "sort keys", maximum: Limits.queryColumnsMax, SortKey.init)
    }
}

extension ProtobufCBinaryData {
    /// The field as a dotted key path or an output's name; which steps it has, the planner sees.
    func keyPath(_ what: String) throws(LarderError) -> String {
        guard len > 0 else { throw MessageReader.malformed("\(what) is empty") }
        return try text(what, bytesMax: ProtobufCBinaryData.keyPathBytesMax)
    }

    static let keyPathBytesMax = Limits.keyPathStepsMax * (Limits.nameBytesMax + 1)
}

extension MessageWriter {
    func predicate(
        _ predicate: QueryPredicate?, _ flattener: inout ExpressionFlattener
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__Predicate>? {
        guard let predicate else { return nil }
        let wire = make(larder__v1__predicate__init)
        switch predicate {
        case .format(let format):
            wire.pointee.form_case = LARDER__V1__PREDICATE__FORM_FORMAT
            wire.pointee.format = text(format)
        case .tree(let tree):
            wire.pointee.form_case = LARDER__V1__PREDICATE__FORM_TREE
            wire.pointee.tree = try flattener.flatten(tree)
        }
        return wire
    }

    func sort(
        _ keys: [SortKey]
    ) throws(LarderError) -> UnsafeMutablePointer<UnsafeMutablePointer<Larder__V1__SortKey>?>? {
        try list(keys) { key in
            let wire = make(larder__v1__sort_key__init)
            wire.pointee.key_path = text(key.keyPath)
            wire.pointee.descending = key.isDescending ? 1 : 0
            return wire
        }
    }
}
