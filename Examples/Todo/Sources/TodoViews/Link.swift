import Foundation
public import TodoValues

/// The addresses of pages.
public enum Link {
    public static let groups = "/"
    public static let myDay = "/my-day"

    public static func group(_ id: WrappedID) -> String { "/group?id=\(escaped(id.description))" }
    public static func task(_ id: WrappedID) -> String { "/task?id=\(escaped(id.description))" }

    private static func escaped(_ text: String) -> String {
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
        return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }
}
