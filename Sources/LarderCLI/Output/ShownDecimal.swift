import FoundationEssentials
import LarderModel

/// How the decimals of a column are shown in tables.
enum ShownDecimal: Equatable {
    /// With at least this number of decimal places; a value is never rounded.
    case scale(Int)
    /// Rounded to this number of decimal places.
    case rounded(Int)
    /// Rounded to at most this number of decimal places.
    case atMost(Int)

    /// The decimal places of computed values whose scale is unknown.
    static let computed = ShownDecimal.atMost(6)

    func text(_ decimal: Decimal) -> String {
        let stored = Value.decimal(decimal).text
        let digits = stored.utf8.firstIndex(of: UInt8(ascii: ".")).map { point in
            stored.utf8[point...].count - 1
        }
        switch self {
        case .scale(let places): return (digits ?? 0) > places ? stored : written(decimal, places)
        case .rounded(let places): return written(decimal, places)
        case .atMost(let places): return (digits ?? 0) > places ? written(decimal, places) : stored
        }
    }

    private func written(_ decimal: Decimal, _ places: Int) -> String {
        let text = try? ScalarFunction.format.value(
            of: [.decimal(decimal), .int(Int64(places))],
            now: Date(timeIntervalSinceReferenceDate: 0))
        return text?.text ?? Value.decimal(decimal).text
    }
}

/// Finds out how the decimals of a result are shown: not at all in formats for programs.
struct ShownDecimals {
    private let entityName: String
    /// nil for a format that shows decimals as they are stored.
    private let schema: Schema?

    init(
        of entityName: String, in session: StoreSession, _ format: OutputFormat
    ) throws(LarderError) {
        self.entityName = entityName
        schema = format.isForPeople ? try session.client.schema() : nil
    }

    /// The columns of a fetch, by name; of whole objects if there are none.
    func fetched(_ columns: [ResultColumn]?) -> [String: ShownDecimal] {
        guard let schema else { return [:] }
        guard let columns else { return schema.entity(named: entityName)?.shownDecimals ?? [:] }
        var shown: [String: ShownDecimal] = [:]
        for column in columns { shown[column.name] = value(of: column.text, in: schema) }
        return shown
    }

    /// The columns of an aggregate, by name.
    func aggregated(_ options: AggregateOptions) -> [String: ShownDecimal] {
        guard let schema else { return [:] }
        var shown: [String: ShownDecimal] = [:]
        for group in options.groupBy {
            shown[group.column.name] = value(of: group.text, in: schema)
        }
        for column in options.columns {
            var value = value(of: column.text, in: schema)
            if [.average, .median].contains(column.column.function) {
                value = if case .scale(let places)? = value { .rounded(places) } else { .computed }
            }
            shown[column.column.name] = value
        }
        return shown
    }

    /// The value of an expression: that of an attribute at the end of a key path, or a computed
    /// one. Nil for an attribute without a scale.
    private func value(of text: String?, in schema: Schema) -> ShownDecimal? {
        guard let text else { return nil }
        let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let attribute = schema.attribute(at: names, of: entityName) else { return .computed }
        return attribute.scale.map { .scale($0) }
    }
}

extension Entity {
    /// How the decimals of whole objects are shown, by the names of the attributes.
    var shownDecimals: [String: ShownDecimal] {
        var shown: [String: ShownDecimal] = [:]
        for attribute in attributes { shown[attribute.name] = attribute.scale.map { .scale($0) } }
        return shown
    }
}

extension Schema {
    /// The attribute at the end of a key path; nil if there is none.
    fileprivate func attribute(at names: [String], of entityName: String) -> Attribute? {
        guard case .attribute(let attribute)? = properties(at: names, of: entityName)?.last else {
            return nil
        }
        return attribute
    }

    /// The properties of a key path, without casts; nil if there is another name in it.
    func properties(at names: [String], of entityName: String) -> [Property]? {
        var entity = entity(named: entityName)
        var properties: [Property] = []
        for name in names {
            guard let current = entity else { return nil }
            if let property = current.property(named: name) {
                properties.append(property)
                entity = nil
                if case .relationship(let relationship) = property {
                    entity = self.entity(named: relationship.destination)
                }
            } else {
                entity = subentities(of: current.name).first { $0.name == name }
                if entity == nil { return nil }
            }
        }
        return properties
    }
}
