/// Warns of what CloudKit refuses in a model class, at each property.
///
///     @CloudKitChecked @Model final class Item {
///         @Attribute(.unique) var title: String  // two warnings
///         …
///     }
///
/// A macro sees the declaration of one class. So it takes a property without `@Relationship` for an
/// attribute, and does not know whether a relationship has an inverse; `Schema.cloudKitProblems`
/// and `larder schema check --cloudkit` find everything.
@attached(peer)
public macro CloudKitChecked() =
    #externalMacro(module: "SwiftDataMacros", type: "CloudKitCheckedMacro")
