import Foundation
import SwiftData
import Testing

// An app for photos: albums with an order of their own, places, images outside of the rows. The
// second version renames, removes and adds attributes, and adds models and relationships.

struct PhotoPlace: Codable, Hashable {
    var latitude: Double
    var longitude: Double
    var name: String?
}

enum PhotoMedia: String, Codable, CaseIterable {
    case still, live, video
}

enum PhotosV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Photo.self, Album.self] }

    @Model final class Photo {
        @Attribute(.unique) var identifier: String
        var takenAt: Date
        var camera: String?
        var rating: Int = 0
        var tags: [String] = []
        var place: PhotoPlace?
        var isFavorite: Bool = false
        @Attribute(.externalStorage) var imageData: Data?
        var albums: [Album] = []

        init(identifier: String, takenAt: Date, camera: String? = nil, imageData: Data? = nil) {
            self.identifier = identifier
            self.takenAt = takenAt
            self.camera = camera
            self.imageData = imageData
        }
    }

    @Model final class Album {
        var title: String
        var order: [String] = []
        @Relationship(inverse: \Photo.albums) var photos: [Photo] = []
        var cover: Photo?

        init(title: String) { self.title = title }
    }
}

enum PhotosV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] {
        [Photo.self, Album.self, Edit.self, Person.self]
    }

    @Model final class Photo {
        #Index<Photo>([\.takenAt], [\.isFavorite, \.takenAt])

        @Attribute(.unique) var identifier: String
        var takenAt: Date
        @Attribute(originalName: "camera") var device: String?
        var tags: [String] = []
        var place: PhotoPlace?
        var isFavorite: Bool = false
        var importedAt: Date = Date()
        var media: PhotoMedia = PhotoMedia.still
        var palette: [Int] = []
        @Attribute(.externalStorage) var imageData: Data?
        var albums: [Album] = []
        @Relationship(deleteRule: .cascade, inverse: \Edit.photo) var edits: [Edit] = []
        var people: [Person] = []
        @Transient var thumbnail: Data?

        init(identifier: String, takenAt: Date) {
            self.identifier = identifier
            self.takenAt = takenAt
        }

        var latestEdit: Edit? { edits.max { $0.date < $1.date } }
    }

    @Model final class Album {
        @Attribute(.unique) var id: UUID = UUID()
        var title: String
        var order: [String] = []
        @Relationship(inverse: \Photo.albums) var photos: [Photo] = []
        var cover: Photo?

        init(title: String) { self.title = title }
    }

    @Model final class Edit {
        var filter: String
        var strength: Double
        var date: Date
        var photo: Photo?

        init(filter: String, strength: Double = 1, date: Date = .now) {
            self.filter = filter
            self.strength = strength
            self.date = date
        }
    }

    @Model final class Person {
        var name: String
        @Relationship(inverse: \Photo.people) var photos: [Photo] = []

        init(name: String) { self.name = name }
    }
}

enum PhotosPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [PhotosV1.self, PhotosV2.self] }
    static var stages: [MigrationStage] {
        [.lightweight(fromVersion: PhotosV1.self, toVersion: PhotosV2.self)]
    }
}

extension PhotosV2.Photo {
    static func taken(in range: Range<Date>) -> FetchDescriptor<PhotosV2.Photo> {
        let (start, end) = (range.lowerBound, range.upperBound)
        return FetchDescriptor(
            predicate: #Predicate { $0.takenAt >= start && $0.takenAt < end },
            sortBy: [SortDescriptor(\.takenAt, order: .reverse)])
    }

    static func search(_ text: String) -> Predicate<PhotosV2.Photo> {
        #Predicate { photo in
            (photo.device ?? "").localizedStandardContains(text)
                || photo.albums.contains { $0.title.localizedStandardContains(text) }
        }
    }

    static func taken(at place: String) -> Predicate<PhotosV2.Photo> {
        #Predicate { $0.place?.name?.localizedStandardContains(place) == true }
    }

    static var favorites: FetchDescriptor<PhotosV2.Photo> {
        var descriptor = FetchDescriptor<PhotosV2.Photo>(
            predicate: #Predicate { $0.isFavorite }, sortBy: [SortDescriptor(\.takenAt)])
        descriptor.relationshipKeyPathsForPrefetching = [\.albums]
        return descriptor
    }
}

extension PhotosV2.Album {
    /// The photos in the order that the user gave them.
    var orderedPhotos: [PhotosV2.Photo] {
        let photos = Dictionary(uniqueKeysWithValues: photos.map { ($0.identifier, $0) })
        return order.compactMap { photos[$0] }
    }

    func move(from offset: Int, to newOffset: Int) {
        order.insert(order.remove(at: offset), at: newOffset)
    }
}

@Suite("An app for photos")
struct PhotosAppTests {
    private let store: AppStore
    private let cameras = ["Nikon Z6", "iPhone 15", "Fuji X100", nil]

    /// The store of the first version: 120 photos, and 6 albums with 20 of them each.
    init() throws {
        store = try AppStore()
        try store.launch(PhotosV1.self) { context in
            let photos = (0..<120).map { number in
                let photo = PhotosV1.Photo(
                    identifier: "IMG_\(1_000 + number)", takenAt: AppStore.day(number / 2),
                    camera: cameras[number % 4], imageData: image(number))
                photo.rating = number % 6
                photo.tags = number.isMultiple(of: 3) ? ["holiday", "n\(number)"] : []
                photo.isFavorite = number % 10 == 0
                if number % 5 == 0 {
                    photo.place = PhotoPlace(
                        latitude: 50 + Double(number) / 10, longitude: 7,
                        name: number % 2 == 0 ? "Zürich" : nil)
                }
                return photo
            }
            for (number, title) in ["Spring", "Summer", "Café", "Work", "Cats", "All"].enumerated()
            {
                let album = PhotosV1.Album(title: title)
                context.insert(album)
                album.photos = Array(photos[number * 16..<number * 16 + 20])
                album.order = album.photos.map(\.identifier).reversed()
                album.cover = album.photos[number]
            }
            photos.forEach(context.insert)
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<PhotosV1.Photo>()) == 120)
        }
    }

    private func image(_ number: Int) -> Data? {
        number % 7 == 6 ? nil : Data(repeating: UInt8(number), count: 500 + number * 20)
    }

    @Test("the photo library keeps albums and their order after a migration")
    func albums() throws {
        let identifiers = try store.launch(PhotosV2.self, PhotosPlan.self) { context in
            let albums = try context.fetch(
                FetchDescriptor<PhotosV2.Album>(sortBy: [SortDescriptor(\.title)]))
            #expect(albums.map(\.title) == ["All", "Café", "Cats", "Spring", "Summer", "Work"])
            #expect(Set(albums.map(\.id)).count == 6)
            for (number, title) in ["Spring", "Summer", "Café", "Work", "Cats", "All"].enumerated()
            {
                let album = try #require(albums.first { $0.title == title })
                let names = (0..<20).map { "IMG_\(1_000 + number * 16 + $0)" }
                #expect(album.orderedPhotos.map(\.identifier) == names.reversed())
                #expect(album.cover?.identifier == names[number])
                #expect(album.photos.allSatisfy { $0.albums.contains(album) })
            }
            albums[0].move(from: 0, to: 2)
            try context.save()
            return albums.map(\.id)
        }
        try store.launch(PhotosV2.self, PhotosPlan.self) { context in
            let albums = try context.fetch(
                FetchDescriptor<PhotosV2.Album>(sortBy: [SortDescriptor(\.title)]))
            #expect(albums.map(\.id) == identifiers)
            #expect(
                albums[0].orderedPhotos.prefix(3).map(\.identifier)
                    == ["IMG_1098", "IMG_1097", "IMG_1099"])
        }
        try store.expectCurrent(PhotosV2.self, PhotosPlan.self)
    }

    @Test("the photos keep values and images, and get the defaults of new attributes")
    func values() throws {
        let start = Date()
        try store.launch(PhotosV2.self, PhotosPlan.self) { context in
            let photos = try context.fetch(
                FetchDescriptor<PhotosV2.Photo>(sortBy: [SortDescriptor(\.identifier)]))
            #expect(photos.count == 120)
            for (number, photo) in photos.enumerated() {
                #expect(photo.identifier == "IMG_\(1_000 + number)")
                #expect(photo.takenAt == AppStore.day(number / 2))
                #expect(photo.device == cameras[number % 4])
                #expect(photo.tags == (number % 3 == 0 ? ["holiday", "n\(number)"] : []))
                #expect(photo.isFavorite == (number % 10 == 0))
                #expect(photo.place?.latitude == (number % 5 == 0 ? 50 + Double(number) / 10 : nil))
                #expect(photo.place?.name == (number % 10 == 0 ? "Zürich" : nil))
                #expect(photo.imageData == image(number))
                #expect((start...Date()).contains(photo.importedAt))
                #expect(photo.media == .still && photo.palette.isEmpty)
                #expect(photo.edits.isEmpty && photo.people.isEmpty)
                #expect(photo.thumbnail == nil && photo.latestEdit == nil)
            }
            // The identifier is still unique: the same one updates the photo.
            context.insert(PhotosV2.Photo(identifier: "IMG_1000", takenAt: AppStore.day(-1)))
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<PhotosV2.Photo>()) == 120)
            #expect(photos[0].takenAt == AppStore.day(-1))
        }
    }

    @Test("the photo library finds photos by album, camera, place and day")
    func queries() throws {
        try store.launch(PhotosV2.self, PhotosPlan.self) { context in
            func count(_ text: String) throws -> Int {
                try context.fetchCount(
                    FetchDescriptor(predicate: PhotosV2.Photo.search(text)))
            }
            #expect(try count("iphone") == 30)
            #expect(try count("cafe") == 20)
            #expect(try count("nothing") == 0)
            let place = PhotosV2.Photo.taken(at: "zurich")
            #expect(try context.fetchCount(FetchDescriptor(predicate: place)) == 12)
            let week = PhotosV2.Photo.taken(in: AppStore.day(7)..<AppStore.day(14))
            let photos = try context.fetch(week)
            #expect(photos.count == 14)
            #expect(photos.first?.takenAt == AppStore.day(13))
            #expect(try context.fetch(PhotosV2.Photo.favorites).count == 12)
            let title = "Spring"
            let inBoth = #Predicate<PhotosV2.Photo> { photo in
                photo.albums.contains { $0.title == title } && photo.albums.count == 2
            }
            #expect(try context.fetchCount(FetchDescriptor(predicate: inBoth)) == 4)
            let still = PhotoMedia.still
            var unsorted = FetchDescriptor<PhotosV2.Photo>(
                predicate: #Predicate { $0.albums.isEmpty && $0.media == still },
                sortBy: [SortDescriptor(\.device), SortDescriptor(\.takenAt, order: .reverse)])
            #expect(try context.fetchCount(unsorted) == 20)
            unsorted.fetchLimit = 3
            unsorted.fetchOffset = 5
            let page = try context.fetch(unsorted).map(\.identifier)
            #expect(page == ["IMG_1118", "IMG_1114", "IMG_1110"])
        }
    }

    @Test("the edits of a photo are deleted with it, its albums and people are not")
    func deletions() throws {
        try store.launch(PhotosV2.self, PhotosPlan.self) { context in
            let spring = try #require(
                try context.fetch(
                    FetchDescriptor<PhotosV2.Album>(predicate: #Predicate { $0.title == "Spring" })
                ).first)
            let cover = try #require(spring.cover)
            let ann = PhotosV2.Person(name: "Ann")
            for (number, photo) in spring.orderedPhotos.enumerated() {
                photo.edits = [
                    PhotosV2.Edit(filter: "warm", date: AppStore.day(100 + number)),
                    PhotosV2.Edit(filter: "crop", date: AppStore.day(200 + number)),
                ]
                photo.people.append(ann)
            }
            try context.save()
            #expect(cover.latestEdit?.filter == "crop")
            let edits = try context.fetch(
                FetchDescriptor<PhotosV2.Edit>(
                    predicate: #Predicate { $0.filter == "crop" },
                    sortBy: [SortDescriptor(\.photo?.identifier, order: .reverse)]))
            #expect(edits.first?.photo?.identifier == "IMG_1019")
            let day = AppStore.day(0)
            try context.delete(
                model: PhotosV2.Photo.self, where: #Predicate { $0.takenAt == day })
            try context.save()
            #expect(spring.cover == nil)
            #expect(spring.photos.count == 18)
            #expect(spring.orderedPhotos.count == 18)
            #expect(ann.photos.count == 18)
            #expect(try context.fetchCount(FetchDescriptor<PhotosV2.Edit>()) == 36)
            #expect(try context.fetchCount(FetchDescriptor<PhotosV2.Album>()) == 6)
        }
        try store.expectCurrent(PhotosV2.self, PhotosPlan.self)
    }
}
