/// Members, keys and elements of JSON documents. `LarderModel` defines their results.
package enum JSONFunctions {
    /// `larder_json(document, form, step, …)`: a member of a JSON document. The form is the type as
    /// which it is read, `json` for its text, `key` for its ``JSONKey``, or `key number` and the
    /// like for the key of a member of one type.
    package static let member = "larder_json"
    /// `larder_json_key(value, form)`: the key of a JSON text, if the form is `json`, or of a
    /// stored `number`, `string` or `bool`.
    package static let key = "larder_json_key"
    /// `larder_json_text(key)`: the JSON text of a key.
    package static let text = "larder_json_text"

    package static let keyForm = "key"
}

/// The table `_elements(array)` with the elements of an array in JSON, as JSON texts in `element`,
/// and their indexes, in `position`. It has no rows for nil and for JSON of another type.
package enum ElementTable {
    package static let table = "_elements"
    package static let column = "element"
    package static let indexColumn = "position"
}
