internal import FoundationEssentials
internal import LarderModel

/// An attribute of a model.
struct XcodeAttribute {
    let attribute: Attribute
    let notes: [String]

    private static let types: [String: AttributeType] = [
        "Integer 16": .int16, "Integer 32": .int32, "Integer 64": .int64, "Decimal": .decimal,
        "Double": .double, "Float": .float, "String": .string, "Boolean": .bool, "Date": .date,
        "Binary": .data, "UUID": .uuid, "URI": .url, "Transformable": .json,
    ]

    init(_ element: XMLElement, of entity: String) throws(LarderError) {
        let name = element["name"] ?? ""
        let path = "\(entity).\(name)"
        let typeName = element["attributeType"] ?? ""
        // A transient attribute may have no type.
        let isUndefined = element.isOn("transient") && ["", "Undefined"].contains(typeName)
        guard let type = isUndefined ? .json : Self.types[typeName] else {
            throw XcodeModel.malformed("\(path) has the type \"\(typeName)\", which is not known")
        }
        var notes: [String] = []
        if typeName == "Transformable" {
            notes.append("\(path) is transformable: its values are JSON, without a transformer")
        }
        var validation = Attribute.Validation()
        if type == .string {
            validation.minLength = try Self.length("minValueString", element, path)
            validation.maxLength = try Self.length("maxValueString", element, path)
            validation.pattern = element["regularExpressionString"]
        } else {
            validation.minimum = try Self.value("min", element, type, path)
            validation.maximum = try Self.value("max", element, type, path)
        }
        let derivation = element.isOn("derived") ? element["derivationExpression"] : nil
        attribute = Attribute(
            name: name, type: type, isOptional: element.isOn("optional"),
            defaultValue: derivation == nil
                ? try Self.value("default", element, type, path) : nil,
            indexed: element.isOn("indexed") ? .exact : nil,
            preservesValueOnDeletion: element.isOn("preserveAfterDeletion"),
            derivation: derivation, originalName: element["elementID"],
            hashModifier: element["versionHashModifier"], validation: validation)
        self.notes = notes
    }

    private static func length(
        _ key: String, _ element: XMLElement, _ path: String
    ) throws(LarderError) -> Int? {
        guard let text = element[key] else { return nil }
        guard let length = Int(text), length >= 0 else {
            throw XcodeModel.malformed("\(path): \(key) is \(text)")
        }
        return length
    }

    /// The value of `defaultValueString`, or of `defaultDateTimeInterval` for a date.
    private static func value(
        _ purpose: String, _ element: XMLElement, _ type: AttributeType, _ path: String
    ) throws(LarderError) -> Value? {
        let key = type == .date ? "\(purpose)DateTimeInterval" : "\(purpose)ValueString"
        guard let text = element[key], type != .data, type != .json else { return nil }
        if type == .date {
            guard let seconds = Double(text), seconds.isFinite else {
                throw XcodeModel.malformed("\(path): \(key) is \(text)")
            }
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        }
        if type == .bool { return .bool(text == "YES" || text == "1") }
        do throws(LarderError) {
            return try Value(text: text, type: type, assumesUTC: true)
        } catch {
            throw XcodeModel.malformed("\(path): \(key): \(error.message)")
        }
    }
}
