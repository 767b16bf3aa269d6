import CoreData
import Foundation

public class Tag: NSManagedObject {
    @NSManaged public var name: String
    @NSManaged public var entries: Set<Entry>

    /// Code between the properties works as it does elsewhere.
    public var shownName: String { "#\(name)" }
}

public class Page: NSManagedObject {
    @NSManaged public var number: Int32
    @NSManaged public var note: String?
    @NSManaged public var entry: Entry?
}
