import Foundation
import SwiftData

/// An author with books, as every side of the measure `objects` has them.
@Model final class Author {
    #Unique<Author>([\.number])
    var number: Int
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Book.author) var books: [Book] = []

    init(number: Int) {
        self.number = number
        name = "Author \(number)"
    }
}

@Model final class Book {
    var number: Int
    var title: String
    var pages: Int
    var price: Double
    var published: Date
    var isRead: Bool
    var author: Author?

    init(number: Int) {
        self.number = number
        title = "Book \(number)"
        pages = 100 + number % 400
        price = Double(number % 1_000) / 4
        published = Date(timeIntervalSinceReferenceDate: Double(number) * 3_600)
        isRead = number.isMultiple(of: 3)
    }

    /// A number of all properties, which is equal for all sides.
    var checksum: Int64 {
        Int64(title.utf8.count) + Int64(pages) + Int64(price * 4)
            + Int64(published.timeIntervalSinceReferenceDate / 3_600) + (isRead ? 1 : 0)
    }
}

/// A page as an image of a mebibyte.
@Model final class Scan {
    var number: Int
    @Attribute(.externalStorage) var image: Data

    init(number: Int) {
        self.number = number
        image = Data(repeating: UInt8(truncatingIfNeeded: number), count: 1 << 20)
    }
}
