internal import CLarderProto
internal import LarderModel

extension AttributeType {
    var wireType: Larder__V1__ColumnType {
        switch self {
        case .bool: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_BOOL
        case .int16: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_INT16
        case .int32: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_INT32
        case .int64: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_INT64
        case .float: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_FLOAT
        case .double: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_DOUBLE
        case .decimal: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_DECIMAL
        case .string: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_STRING
        case .date: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_DATE
        case .uuid: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_UUID
        case .url: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_URL
        case .data: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_DATA
        case .json: LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_JSON
        }
    }
}
