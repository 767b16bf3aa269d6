/// The thirteen types of attributes, named as in the schema file.
public enum AttributeType: String, Sendable, Hashable, CaseIterable {
    case bool, int16, int32, int64, float, double, decimal, string, date, uuid, url, data, json
}
