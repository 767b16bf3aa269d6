import LarderModel
import LarderQuery
import LarderSQL

extension IndexFunctions {
    static func register(on connection: Connection) throws(SQLError) {
        func register(
            _ name: String, _ form: @escaping (String) -> String
        ) throws(SQLError) {
            try connection.registerScalar(name: name, argumentCount: 1, isBounded: false) {
                $0[0].isNull ? .null : .text(form($0[0].string))
            }
        }
        try register(canonical) { StringFunctions.folded($0, .insensitive) }
        try register(caseless) { StringFunctions.folded($0, .caseInsensitive) }
        try register(searchForm) { SearchForm.form(of: $0) }
        try register(wordForm) { SearchText.wordForm(of: $0) }
    }
}
