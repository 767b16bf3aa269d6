internal import CLarderProto
internal import LarderModel

extension QueryTerm {
    static func optional(
        _ wire: UnsafeMutablePointer<Larder__V1__Term>?, _ what: String
    ) throws(LarderError) -> QueryTerm? {
        guard let wire = wire?.pointee else { return nil }
        switch wire.form_case {
        case LARDER__V1__TERM__FORM_FORMAT:
            return .format(try wire.format.text(what, bytesMax: Limits.predicateBytesMax))
        case LARDER__V1__TERM__FORM_TREE:
            guard let tree = wire.tree else { break }
            return .tree(try ExpressionBuilder.build(tree.pointee))
        default:
            break
        }
        throw MessageReader.malformed("\(what) has no form that is known")
    }

    static func required(
        _ wire: UnsafeMutablePointer<Larder__V1__Term>?, _ what: String
    ) throws(LarderError) -> QueryTerm {
        guard let term = try optional(wire, what) else {
            throw MessageReader.malformed("\(what) has no term")
        }
        return term
    }
}

extension QueryColumn {
    init(_ wire: Larder__V1__NamedTerm) throws(LarderError) {
        self.init(
            try QueryTerm.required(wire.term, "a column"),
            name: try wire.name.columnName("a column's name"))
    }
}

extension SortKey {
    init(_ wire: Larder__V1__SortKey) throws(LarderError) {
        let placements = NilPlacement.allCases
        guard let placement = placements.first(where: { $0.wirePlacement == wire.nil_placement })
        else { throw MessageReader.malformed("a sort key has no place for nil that is known") }
        let orders = StringOrder.allCases
        guard let order = orders.first(where: { $0.wireOrder == wire.string_order })
        else { throw MessageReader.malformed("a sort key has no order of strings that is known") }
        self.init(
            try QueryTerm.required(wire.term, "a sort key"), descending: wire.descending != 0,
            nilPlacement: placement, stringOrder: order)
    }

    static func list(
        _ items: UnsafeMutablePointer<UnsafeMutablePointer<Larder__V1__SortKey>?>?, _ count: Int
    ) throws(LarderError) -> [SortKey] {
        try MessageReader.list(
            items, count, "sort keys", maximum: Limits.queryColumnsMax, SortKey.init)
    }
}

extension SortKey.NilPlacement {
    fileprivate var wirePlacement: Larder__V1__NilPlacement {
        switch self {
        case .standard: LARDER__V1__NIL_PLACEMENT__NIL_PLACEMENT_STANDARD
        case .first: LARDER__V1__NIL_PLACEMENT__NIL_PLACEMENT_FIRST
        case .last: LARDER__V1__NIL_PLACEMENT__NIL_PLACEMENT_LAST
        }
    }
}

extension StringOrder {
    fileprivate var wireOrder: Larder__V1__StringOrder {
        switch self {
        case .plain: LARDER__V1__STRING_ORDER__STRING_ORDER_PLAIN
        case .caseInsensitive: LARDER__V1__STRING_ORDER__STRING_ORDER_CASE_INSENSITIVE
        case .localizedStandard: LARDER__V1__STRING_ORDER__STRING_ORDER_LOCALIZED_STANDARD
        }
    }
}

extension ProtobufCBinaryData {
    /// The field as the name of an output column, which may be the whole of what was asked.
    func columnName(_ what: String) throws(LarderError) -> String {
        guard len > 0 else { throw MessageReader.malformed("\(what) is empty") }
        return try text(what, bytesMax: ProtobufCBinaryData.keyPathBytesMax)
    }

    static let keyPathBytesMax = Limits.keyPathStepsMax * (Limits.nameBytesMax + 1)
}

extension MessageWriter {
    func term(
        _ term: QueryTerm?, _ flattener: inout ExpressionFlattener
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__Term>? {
        guard let term else { return nil }
        let wire = make(larder__v1__term__init)
        switch term {
        case .format(let format):
            wire.pointee.form_case = LARDER__V1__TERM__FORM_FORMAT
            wire.pointee.format = text(format)
        case .tree(let tree):
            wire.pointee.form_case = LARDER__V1__TERM__FORM_TREE
            wire.pointee.tree = try flattener.flatten(tree)
        }
        return wire
    }

    func columns(
        _ columns: [QueryColumn], _ flattener: inout ExpressionFlattener
    ) throws(LarderError) -> UnsafeMutablePointer<UnsafeMutablePointer<Larder__V1__NamedTerm>?>? {
        var items: [UnsafeMutablePointer<Larder__V1__NamedTerm>] = []
        for column in columns {
            let wire = make(larder__v1__named_term__init)
            wire.pointee.name = text(column.name)
            wire.pointee.term = try term(column.term, &flattener)
            items.append(wire)
        }
        return try list(items) { $0 }
    }

    func sort(
        _ keys: [SortKey], _ flattener: inout ExpressionFlattener
    ) throws(LarderError) -> UnsafeMutablePointer<UnsafeMutablePointer<Larder__V1__SortKey>?>? {
        var items: [UnsafeMutablePointer<Larder__V1__SortKey>] = []
        for key in keys {
            let wire = make(larder__v1__sort_key__init)
            wire.pointee.term = try term(key.term, &flattener)
            wire.pointee.descending = key.isDescending ? 1 : 0
            wire.pointee.nil_placement = key.nilPlacement.wirePlacement
            wire.pointee.string_order = key.stringOrder.wireOrder
            items.append(wire)
        }
        return try list(items) { $0 }
    }
}
