import Foundation
import SwiftData
import Testing

// A library of media with a hierarchy of classes: songs, episodes and, in the second version,
// audiobooks. Playlists are ordered by entries; artists and songs are many to many.

enum MusicFormat: Codable, Hashable {
    case stream(URL)
    case file(name: String, bitRate: Int)
}

enum MusicV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] {
        [Media.self, Song.self, Episode.self, Artist.self, Playlist.self, Entry.self]
    }

    @Model class Media {
        var title: String
        var duration: TimeInterval
        var format: MusicFormat
        var plays: Int = 0
        @Relationship(deleteRule: .cascade, inverse: \Entry.media) var entries: [Entry] = []

        init(title: String, duration: TimeInterval, format: MusicFormat) {
            self.title = title
            self.duration = duration
            self.format = format
        }
    }

    @Model final class Song: Media {
        var album: String?
        var trackNumber: Int
        var artists: [Artist] = []

        init(title: String, duration: TimeInterval, format: MusicFormat, trackNumber: Int) {
            self.trackNumber = trackNumber
            super.init(title: title, duration: duration, format: format)
        }
    }

    @Model final class Episode: Media {
        var show: String
        var publishedAt: Date
        var position: TimeInterval = 0

        init(title: String, duration: TimeInterval, show: String, publishedAt: Date, url: URL) {
            self.show = show
            self.publishedAt = publishedAt
            super.init(title: title, duration: duration, format: .stream(url))
        }
    }

    @Model final class Artist {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Song.artists) var songs: [Song] = []

        init(name: String) { self.name = name }
    }

    @Model final class Playlist {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \Entry.playlist) var entries: [Entry] = []

        init(name: String) { self.name = name }
    }

    @Model final class Entry {
        var position: Int
        var media: Media?
        var playlist: Playlist?

        init(position: Int, media: Media, playlist: Playlist) {
            self.position = position
            self.media = media
            self.playlist = playlist
        }
    }
}

enum MusicV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] {
        [
            Media.self, Song.self, Episode.self, Audiobook.self, Artist.self, Playlist.self,
            Entry.self, Genre.self,
        ]
    }

    @Model class Media {
        #Index<Media>([\.title])

        var title: String
        var duration: TimeInterval
        var format: MusicFormat
        @Attribute(originalName: "plays") var playCount: Int = 0
        var addedAt: Date = Date.now
        var lastPlayedAt: Date?
        var genre: Genre?
        @Relationship(deleteRule: .cascade, inverse: \Entry.media) var entries: [Entry] = []

        init(title: String, duration: TimeInterval, format: MusicFormat) {
            self.title = title
            self.duration = duration
            self.format = format
        }

        func play(at date: Date) {
            playCount += 1
            lastPlayedAt = date
        }
    }

    @Model final class Song: Media {
        var album: String?
        var trackNumber: Int
        var isExplicit: Bool = false
        var artists: [Artist] = []

        init(title: String, duration: TimeInterval, format: MusicFormat, trackNumber: Int) {
            self.trackNumber = trackNumber
            super.init(title: title, duration: duration, format: format)
        }
    }

    @Model final class Episode: Media {
        var show: String
        var publishedAt: Date
        var position: TimeInterval = 0
        var chapters: [String] = ["Start"]

        init(title: String, duration: TimeInterval, show: String, publishedAt: Date, url: URL) {
            self.show = show
            self.publishedAt = publishedAt
            super.init(title: title, duration: duration, format: .stream(url))
        }

        override func play(at date: Date) {
            super.play(at: date)
            position = duration
        }
    }

    @Model final class Audiobook: Media {
        var narrator: String

        init(title: String, narrator: String, duration: TimeInterval) {
            self.narrator = narrator
            super.init(
                title: title, duration: duration,
                format: .file(name: "\(title).m4b", bitRate: 64))
        }
    }

    @Model final class Artist {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Song.artists) var songs: [Song] = []

        init(name: String) { self.name = name }
    }

    @Model final class Playlist {
        var name: String
        var uuid: UUID = UUID()
        @Relationship(deleteRule: .cascade, inverse: \Entry.playlist) var entries: [Entry] = []

        init(name: String) { self.name = name }
    }

    @Model final class Entry {
        var position: Int
        var media: Media?
        var playlist: Playlist?

        init(position: Int, media: Media, playlist: Playlist) {
            self.position = position
            self.media = media
            self.playlist = playlist
        }
    }

    @Model final class Genre {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Media.genre) var media: [Media] = []

        init(name: String) { self.name = name }
    }
}

enum MusicPlan: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [MusicV1.self, MusicV2.self]
    static let stages: [MigrationStage] = [
        .lightweight(fromVersion: MusicV1.self, toVersion: MusicV2.self)
    ]
}

extension MusicV2.Playlist {
    var sortedEntries: [MusicV2.Entry] { entries.sorted { $0.position < $1.position } }
    var titles: [String] { sortedEntries.compactMap { $0.media?.title } }

    func move(from offset: Int, to newOffset: Int) {
        var sorted = sortedEntries
        sorted.insert(sorted.remove(at: offset), at: newOffset)
        for (position, entry) in sorted.enumerated() where entry.position != position {
            entry.position = position
        }
    }
}

extension FetchDescriptor where T == MusicV2.Song {
    static func by(artist name: String) -> Self {
        FetchDescriptor(
            predicate: #Predicate { $0.artists.contains { $0.name == name } },
            sortBy: [
                SortDescriptor(\.album), SortDescriptor(\.trackNumber, order: .reverse),
            ])
    }
}

@Suite("An app for music")
struct MusicAppTests {
    private let store: AppStore

    /// The store of the first version: 90 songs, 30 episodes, 6 artists and 4 playlists.
    init() throws {
        store = try AppStore()
        try store.launch(MusicV1.self) { context in
            let artists = (0..<6).map { MusicV1.Artist(name: "Artist \($0)") }
            var media: [MusicV1.Media] = []
            for number in 0..<90 {
                let song = MusicV1.Song(
                    title: "Song \(number)", duration: Double(180 + number),
                    format: .file(name: "\(number).flac", bitRate: 900), trackNumber: number % 10)
                song.album = number < 80 ? "Album \(number / 10)" : nil
                song.plays = number % 7
                song.artists = [artists[number % 6]]
                if number % 15 == 0 { song.artists.append(artists[(number + 1) % 6]) }
                media.append(song)
            }
            for number in 0..<30 {
                let episode = MusicV1.Episode(
                    title: "Episode \(number)", duration: 3_600, show: "Show \(number % 3)",
                    publishedAt: AppStore.day(number),
                    url: URL(string: "https://example.org/\(number).mp3")!)
                episode.position = Double(number * 100)
                media.append(episode)
            }
            for item in media { context.insert(item) }
            for number in 0..<4 {
                let playlist = MusicV1.Playlist(name: "Playlist \(number)")
                context.insert(playlist)
                for position in 0..<25 {
                    context.insert(
                        MusicV1.Entry(
                            position: position, media: media[(number * 37 + position * 11) % 120],
                            playlist: playlist))
                }
            }
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<MusicV1.Media>()) == 120)
        }
    }

    @Test("the media of a library keep their classes after a migration that adds a class")
    func classes() throws {
        let start = Date()
        try store.launch(MusicV2.self, MusicPlan.self) { context in
            let media = try context.fetch(FetchDescriptor<MusicV2.Media>())
            #expect(media.count == 120)
            for (number, item) in media.enumerated() {
                #expect((start...Date()).contains(item.addedAt))
                #expect(item.lastPlayedAt == nil && item.genre == nil)
                switch item {
                case let song as MusicV2.Song:
                    #expect(song.title == "Song \(number)")
                    #expect(song.format == .file(name: "\(number).flac", bitRate: 900))
                    #expect(song.playCount == number % 7 && song.trackNumber == number % 10)
                    #expect(song.artists.count == (number % 15 == 0 ? 2 : 1))
                    #expect(!song.isExplicit)
                case let episode as MusicV2.Episode:
                    #expect(episode.title == "Episode \(number - 90)")
                    #expect(episode.publishedAt == AppStore.day(number - 90))
                    #expect(episode.chapters == ["Start"])
                default: Issue.record("\(item) has another class")
                }
            }
            let book = MusicV2.Audiobook(title: "Emma", narrator: "Ann", duration: 40_000)
            book.genre = MusicV2.Genre(name: "Classics")
            context.insert(book)
            try context.save()
        }
        try store.expectCurrent(MusicV2.self, MusicPlan.self)
        try store.launch(MusicV2.self, MusicPlan.self) { context in
            let genre = try #require(try context.fetch(FetchDescriptor<MusicV2.Genre>()).first)
            #expect((genre.media.first as? MusicV2.Audiobook)?.narrator == "Ann")
        }
    }

    @Test("the playlists of a library keep their order after a migration")
    func playlists() throws {
        func title(_ playlist: Int, _ position: Int) -> String {
            let number = (playlist * 37 + position * 11) % 120
            return number < 90 ? "Song \(number)" : "Episode \(number - 90)"
        }
        try store.launch(MusicV2.self, MusicPlan.self) { context in
            let playlists = try context.fetch(
                FetchDescriptor<MusicV2.Playlist>(sortBy: [SortDescriptor(\.name)]))
            for (number, playlist) in playlists.enumerated() {
                #expect(playlist.titles == (0..<25).map { title(number, $0) })
            }
            #expect(Set(playlists.map(\.uuid)).count == 4)
            playlists[1].move(from: 24, to: 0)
            context.delete(playlists[0])
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<MusicV2.Entry>()) == 75)
            #expect(playlists[1].titles == ([24] + (0..<24)).map { title(1, $0) })
            let show = "Show 1"
            try context.delete(
                model: MusicV2.Episode.self, where: #Predicate { $0.show == show })
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<MusicV2.Media>()) == 110)
            let empty = #Predicate<MusicV2.Entry> { $0.media == nil }
            #expect(try context.fetchCount(FetchDescriptor(predicate: empty)) == 0)
        }
        try store.expectCurrent(MusicV2.self, MusicPlan.self)
    }

    @Test("the library of media finds songs by artist, class and last play")
    func queries() throws {
        try store.launch(MusicV2.self, MusicPlan.self) { context in
            let songs = try context.fetch(.by(artist: "Artist 1"))
            #expect(songs.count == 18)
            #expect(songs.first?.album == nil && songs.last?.album == "Album 7")
            let isEpisode = #Predicate<MusicV2.Media> { $0 is MusicV2.Episode }
            #expect(try context.fetchCount(FetchDescriptor(predicate: isEpisode)) == 30)
            let unfinished = #Predicate<MusicV2.Media> {
                if let episode = $0 as? MusicV2.Episode {
                    episode.position > 0 && episode.position < 1_000
                } else {
                    $0.playCount > 5
                }
            }
            #expect(try context.fetchCount(FetchDescriptor(predicate: unfinished)) == 9 + 12)
            let (first, second) = (songs[0], songs[1])
            second.play(at: AppStore.day(60))
            first.play(at: AppStore.day(61))
            let episodes = FetchDescriptor<MusicV2.Episode>(
                sortBy: [SortDescriptor(\.publishedAt, order: .reverse)])
            let newest = try #require(try context.fetch(episodes).first)
            newest.play(at: AppStore.day(62))
            #expect(newest.position == 3_600)
            let recent = FetchDescriptor<MusicV2.Media>(
                predicate: #Predicate { $0.lastPlayedAt != nil },
                sortBy: [SortDescriptor(\.lastPlayedAt, order: .reverse)])
            #expect(try context.fetch(recent) == [newest, first, second])
            try context.save()
            #expect(try context.fetch(recent) == [newest, first, second])
            let identifiers = try context.fetchIdentifiers(recent)
            #expect(identifiers.map(\.entityName) == ["Episode", "Song", "Song"])
            #expect(
                try context.fetchCount(
                    FetchDescriptor<MusicV2.Playlist>(
                        predicate: #Predicate {
                            $0.entries.contains { $0.media?.title == "Episode 2" }
                        })) == 1)
        }
    }
}
