internal import CLarderProto
internal import LarderModel

// The messages `Term`, `NamedTerm` and `SortKey`.

extension QueryTerm {
    init(_ wire: Larder__V1__Term, _ what: String) throws(LarderError) {
        switch wire.form_case {
        case LARDER__V1__TERM__FORM_FORMAT:
            self = .format(try wire.format.text(what, bytesMax: Limits.predicateBytesMax))
            return
        case LARDER__V1__TERM__FORM_TREE:
            guard let tree = wire.tree else { break }
            self = .tree(try ExpressionBuilder.build(tree.pointee))
            return
        default:
            break
        }
        throw .malformed("\(what) has no known form")
    }

    static func optional(
        _ wire: UnsafeMutablePointer<Larder__V1__Term>?, _ what: String
    ) throws(LarderError) -> QueryTerm? {
        guard let wire else { return nil }
        return try QueryTerm(wire.pointee, what)
    }

    static func required(
        _ wire: UnsafeMutablePointer<Larder__V1__Term>?, _ what: String
    ) throws(LarderError) -> QueryTerm {
        guard let term = try optional(wire, what) else {
            throw .malformed("\(what) has no term")
        }
        return term
    }
}

extension QueryColumn {
    init(_ wire: Larder__V1__NamedTerm) throws(LarderError) {
        self.init(
            try QueryTerm.required(wire.term, "a column"),
            name: try wire.name.columnName("the name of a column"))
    }
}

extension SortKey {
    init(_ wire: Larder__V1__SortKey) throws(LarderError) {
        let placements = NilPlacement.allCases
        guard let placement = placements.first(where: { $0.wirePlacement == wire.nil_placement })
        else { throw .malformed("the sort key has an unknown nil placement") }
        let orders = StringOrder.allCases
        guard let order = orders.first(where: { $0.wireOrder == wire.string_order })
        else { throw .malformed("the sort key has an unknown string order") }
        self.init(
            try QueryTerm.required(wire.term, "a sort key"), descending: wire.descending != 0,
            nilPlacement: placement, stringOrder: order)
    }

    static func list(
        _ items: UnsafeMutablePointer<UnsafeMutablePointer<Larder__V1__SortKey>?>?, _ count: Int
    ) throws(LarderError) -> [SortKey] {
        try ProtobufReader.list(
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

extension ProtobufWriter {
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

    func column(
        _ column: QueryColumn, _ flattener: inout ExpressionFlattener
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__NamedTerm> {
        let wire = make(larder__v1__named_term__init)
        wire.pointee.name = text(column.name)
        wire.pointee.term = try term(column.term, &flattener)
        return wire
    }

    func columns(
        _ columns: [QueryColumn], _ flattener: inout ExpressionFlattener
    ) throws(LarderError) -> UnsafeMutablePointer<UnsafeMutablePointer<Larder__V1__NamedTerm>?>? {
        var items: [UnsafeMutablePointer<Larder__V1__NamedTerm>] = []
        for column in columns { items.append(try self.column(column, &flattener)) }
        return try list(items) { $0 }
    }

    func sort(
        _ keys: [SortKey], _ flattener: inout ExpressionFlattener
    ) throws(LarderError) -> UnsafeMutablePointer<UnsafeMutablePointer<Larder__V1__SortKey>?>? {
        var items: [UnsafeMutablePointer<Larder__V1__SortKey>] = []
        for key in keys { items.append(try sortKey(key, &flattener)) }
        return try list(items) { $0 }
    }

    func sortKey(
        _ key: SortKey, _ flattener: inout ExpressionFlattener
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__SortKey> {
        let wire = make(larder__v1__sort_key__init)
        wire.pointee.term = try term(key.term, &flattener)
        wire.pointee.descending = key.isDescending ? 1 : 0
        wire.pointee.nil_placement = key.nilPlacement.wirePlacement
        wire.pointee.string_order = key.stringOrder.wireOrder
        return wire
    }
}
