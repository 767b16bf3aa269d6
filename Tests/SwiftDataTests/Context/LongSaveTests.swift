import Foundation
import SwiftData
import Testing

@Model
private final class Photo {
    var title: String
    var album: Album?
    @Attribute(.externalStorage) var image: Data

    init(title: String, image: Data, album: Album? = nil) {
        self.title = title
        self.image = image
        self.album = album
    }
}

@Model
private final class Album {
    @Attribute(.unique) var name: String
    @Relationship(deleteRule: .cascade, inverse: \Photo.album) var photos: [Photo] = []

    init(name: String) { self.name = name }
}

/// A save has no other limits than memory and disk: what is longer than a frame of the protocol
/// goes to the store's owner in parts.
@Suite("Long saves")
struct LongSaveTests {
    private static let mebibyte = 1 << 20

    private static func bytes(_ count: Int, _ first: UInt8) -> Data {
        var bytes = Data(repeating: first, count: count)
        bytes[count - 1] = first &+ 1
        return bytes
    }

    private func container(in folder: StoreFileTests.Folder) throws -> ModelContainer {
        try ModelContainer(
            for: Album.self,
            configurations: ModelConfiguration(url: folder.url.appending(path: "photos.store")))
    }

    @Test("a save of three photos that are longer than a frame together stores all of them")
    func threePhotos() throws {
        let folder = try StoreFileTests.Folder()
        do {
            let context = ModelContext(try container(in: folder))
            let album = Album(name: "Summer")
            context.insert(album)
            for number in 1...3 {
                let image = Self.bytes(6 * Self.mebibyte, UInt8(number))
                context.insert(Photo(title: "\(number)", image: image, album: album))
            }
            try context.save()
            #expect(!context.hasChanges)
            #expect(album.photos.count == 3)
        }
        let context = ModelContext(try container(in: folder))
        let photos = try context.fetch(FetchDescriptor<Photo>(sortBy: [SortDescriptor(\.title)]))
        #expect(photos.map(\.title) == ["1", "2", "3"])
        #expect(photos.map(\.album?.name) == ["Summer", "Summer", "Summer"])
        for (number, photo) in zip(UInt8(1)..., photos) {
            #expect(photo.image == Self.bytes(6 * Self.mebibyte, number))
        }
    }

    @Test("an attribute of 18 MiB is stored, changed, fetched and faulted")
    func longAttribute() throws {
        let folder = try StoreFileTests.Folder()
        let container = try container(in: folder)
        let context = ModelContext(container)
        let photo = Photo(title: "panorama", image: Self.bytes(17 * Self.mebibyte, 1))
        context.insert(photo)
        try context.save()
        photo.image = Self.bytes(18 * Self.mebibyte, 7)
        try context.save()
        let other = ModelContext(container)
        let found = try #require(other.model(for: photo.persistentModelID) as? Photo)
        #expect(found.image == Self.bytes(18 * Self.mebibyte, 7))
        let fetched = try ModelContext(container).fetch(FetchDescriptor<Photo>())
        #expect(fetched.map(\.image) == [Self.bytes(18 * Self.mebibyte, 7)])
    }

    @Test("100,000 inserts in one save are stored as one transaction")
    func manyInserts() throws {
        let folder = try StoreFileTests.Folder()
        let container = try container(in: folder)
        let context = ModelContext(container)
        for number in 0..<100_000 {
            context.insert(Photo(title: "\(number)", image: Data([UInt8(number & 0x7F)])))
        }
        try context.save()
        let other = ModelContext(container)
        #expect(try other.fetchCount(FetchDescriptor<Photo>()) == 100_000)
        let last = FetchDescriptor<Photo>(predicate: #Predicate { $0.title == "99999" })
        #expect(try other.fetch(last).map(\.image) == [Data([UInt8(99_999 & 0x7F)])])
        #expect(try other.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count == 1)
    }

    @Test("a refused long save names the object, changes nothing, and succeeds without the object")
    func refusal() throws {
        let folder = try StoreFileTests.Folder()
        let container = try ModelContainer(
            for: ScanShelf.self, Scan.self,
            configurations: ModelConfiguration(url: folder.url.appending(path: "scans.store")))
        let context = ModelContext(container)
        let shelf = ScanShelf(name: "full")
        context.insert(shelf)
        for number in 1...3 {
            context.insert(Scan(Self.bytes(6 * Self.mebibyte, UInt8(number)), shelf))
        }
        let empty = ScanShelf(name: "empty")
        context.insert(empty)
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        #expect("\(try #require(error))".contains("ScanShelf"))
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Scan>()) == 0)
        context.delete(empty)
        try context.save()
        let other = ModelContext(container)
        #expect(try other.fetchCount(FetchDescriptor<Scan>()) == 3)
        #expect(try other.fetch(FetchDescriptor<ScanShelf>()).map(\.name) == ["full"])
    }
}

@Model
private final class Scan {
    var image: Data
    var shelf: ScanShelf?

    init(_ image: Data, _ shelf: ScanShelf) {
        self.image = image
        self.shelf = shelf
    }
}

@Model
private final class ScanShelf {
    var name: String
    @Relationship(minimumModelCount: 1, inverse: \Scan.shelf) var scans: [Scan] = []

    init(name: String) { self.name = name }
}
