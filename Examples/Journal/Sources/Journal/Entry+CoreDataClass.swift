import CoreData
import Foundation

public class Entry: NSManagedObject {

}
