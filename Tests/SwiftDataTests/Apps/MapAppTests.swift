import Foundation
import SwiftData
import Testing

// Places on a map, in a tree of regions, and trips with ordered stops. The second version joins two
// attributes into a coordinate, and adds a path for each trip.

struct MapCoordinate: Codable, Hashable {
    var latitude: Double = 0
    var longitude: Double = 0
    var altitude: Double?
}

struct MapBounds {
    var south: Double
    var west: Double
    var north: Double
    var east: Double
}

enum MapPin: String, Codable { case home, food, sight, other }

enum MapV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] {
        [Region.self, Place.self, Trip.self, Stop.self]
    }

    @Model final class Region {
        var name: String
        var parent: Region?
        @Relationship(deleteRule: .cascade, inverse: \Region.parent) var children: [Region] = []
        @Relationship(inverse: \Place.region) var places: [Place] = []

        init(name: String, parent: Region? = nil) {
            self.name = name
            self.parent = parent
        }
    }

    @Model final class Place {
        var name: String
        var latitude: Double
        var longitude: Double
        var pin: MapPin
        var website: URL?
        var region: Region?
        @Relationship(deleteRule: .deny, inverse: \Stop.place) var stops: [Stop] = []

        init(name: String, latitude: Double, longitude: Double, pin: MapPin) {
            self.name = name
            self.latitude = latitude
            self.longitude = longitude
            self.pin = pin
        }
    }

    @Model final class Trip {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []

        init(name: String) { self.name = name }
    }

    @Model final class Stop {
        var order: Int
        var place: Place?
        var trip: Trip?

        init(order: Int, place: Place, trip: Trip) {
            self.order = order
            self.place = place
            self.trip = trip
        }
    }
}

enum MapV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 1, 0)
    static var models: [any PersistentModel.Type] {
        [Region.self, Place.self, Trip.self, Stop.self, Path.self]
    }

    @Model final class Region {
        var name: String
        var parent: Region?
        @Relationship(deleteRule: .cascade, inverse: \Region.parent) var children: [Region] = []
        @Relationship(inverse: \Place.region) var places: [Place] = []

        init(name: String) { self.name = name }

        var path: [String] { (parent?.path ?? []) + [name] }
    }

    @Model final class Place {
        #Index<Place>([\.latitude, \.longitude])

        var name: String
        var latitude: Double
        var longitude: Double
        var coordinate: MapCoordinate = MapCoordinate()
        var pin: MapPin
        var website: URL?
        var visits: [Date] = []
        var region: Region?
        @Relationship(deleteRule: .deny, inverse: \Stop.place) var stops: [Stop] = []

        init(name: String, coordinate: MapCoordinate, pin: MapPin = .other) {
            self.name = name
            self.coordinate = coordinate
            latitude = coordinate.latitude
            longitude = coordinate.longitude
            self.pin = pin
        }
    }

    @Model final class Trip {
        var name: String
        var color: String = "#00AAFF"
        @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
        @Relationship(deleteRule: .cascade, inverse: \Path.trip) var path: Path?

        init(name: String) { self.name = name }
    }

    @Model final class Stop {
        @Attribute(originalName: "order") var position: Int
        var note: String?
        var place: Place?
        var trip: Trip?

        init(position: Int, place: Place, trip: Trip) {
            self.position = position
            self.place = place
            self.trip = trip
        }
    }

    @Model final class Path {
        var points: [MapCoordinate]
        var meters: Measure
        var trip: Trip?

        struct Measure: Codable, Comparable {
            var value: Double
            var unit: Unit = .meters

            enum Unit: String, Codable { case meters, miles }

            static func < (left: Measure, right: Measure) -> Bool { left.value < right.value }
        }

        init(points: [MapCoordinate]) {
            self.points = points
            meters = Measure(value: Double(points.count))
        }
    }
}

enum MapPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [MapV1.self, MapV2.self] }
    static var stages: [MigrationStage] { [joinCoordinates] }

    static let joinCoordinates = MigrationStage.custom(
        fromVersion: MapV1.self, toVersion: MapV2.self, willMigrate: nil
    ) { context in
        for place in try context.fetch(FetchDescriptor<MapV2.Place>()) {
            place.coordinate = MapCoordinate(latitude: place.latitude, longitude: place.longitude)
        }
        var trips = FetchDescriptor<MapV2.Trip>()
        trips.relationshipKeyPathsForPrefetching = [\.stops]
        for trip in try context.fetch(trips) {
            trip.path = MapV2.Path(points: trip.places.map(\.coordinate))
        }
        try context.save()
    }
}

extension MapV2.Trip {
    var places: [MapV2.Place] {
        stops.sorted(using: KeyPathComparator(\.position)).compactMap(\.place)
    }
}

extension MapV2.Place {
    static func within(_ bounds: MapBounds) -> Predicate<MapV2.Place> {
        let (south, north) = (bounds.south, bounds.north)
        let (west, east) = (bounds.west, bounds.east)
        return #Predicate { place in
            place.latitude >= south && place.latitude <= north
                && place.longitude >= west && place.longitude <= east
        }
    }
}

@Suite("An app for maps")
struct MapAppTests {
    private let store: AppStore

    /// The store of the first version: a tree of 13 regions, a grid of 100 places, and 5 trips.
    init() throws {
        store = try AppStore()
        try store.launch(MapV1.self) { context in
            let world = MapV1.Region(name: "World")
            context.insert(world)
            var regions: [MapV1.Region] = []
            for number in 0..<3 {
                let country = MapV1.Region(name: "Country \(number)", parent: world)
                regions += (0..<3).map { city in
                    MapV1.Region(name: "City \(number)\(city)", parent: country)
                }
            }
            let pins: [MapPin] = [.home, .food, .sight]
            let places = (0..<100).map { number in
                let place = MapV1.Place(
                    name: "Place \(number)", latitude: Double(number / 10) + 0.25,
                    longitude: -Double(number % 10) - 0.125, pin: pins[number % 3])
                place.website = number % 9 == 0 ? URL(string: "https://p.example/\(number)") : nil
                place.region = number < 90 ? regions[number / 10] : nil
                return place
            }
            places.forEach(context.insert)
            for number in 0..<5 {
                let trip = MapV1.Trip(name: "Trip \(number)")
                for order in 0..<8 {
                    let place = places[(number * 8 + order * 3) % 50]
                    context.insert(MapV1.Stop(order: order, place: place, trip: trip))
                }
            }
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<MapV1.Region>()) == 13)
        }
    }

    @Test("the places of a map get coordinates, and the trips paths, by a migration")
    func coordinates() throws {
        try store.launch(MapV2.self, MapPlan.self) { context in
            let places = try context.fetch(FetchDescriptor<MapV2.Place>())
            for (number, place) in places.enumerated() {
                #expect(place.name == "Place \(number)")
                #expect(
                    place.coordinate
                        == MapCoordinate(
                            latitude: Double(number / 10) + 0.25,
                            longitude: -Double(number % 10) - 0.125, altitude: nil))
                #expect((place.website != nil) == (number % 9 == 0))
                #expect(place.pin == [.home, .food, .sight][number % 3] && place.visits.isEmpty)
                let (country, city) = (number / 30, number / 10 % 3)
                let path = ["World", "Country \(country)", "City \(country)\(city)"]
                #expect(place.region?.path == (number < 90 ? path : nil))
            }
            let trips = try context.fetch(
                FetchDescriptor<MapV2.Trip>(sortBy: [SortDescriptor(\.name)]))
            for (number, trip) in trips.enumerated() {
                #expect(
                    trip.places.map(\.name)
                        == (0..<8).map { "Place \((number * 8 + $0 * 3) % 50)" })
                #expect(trip.path?.points == trip.places.map(\.coordinate))
                #expect(trip.path?.meters.unit == .meters && trip.path?.trip === trip)
                #expect(trip.color == "#00AAFF")
            }
            places[0].coordinate = MapCoordinate(latitude: 9, longitude: 9, altitude: 9)
            places[0].visits = [AppStore.day(1), AppStore.day(2, hour: 3)]
            try context.save()
        }
        try store.expectCurrent(MapV2.self, MapPlan.self)
        try store.launch(MapV2.self, MapPlan.self) { context in
            let high = #Predicate<MapV2.Place> { ($0.coordinate.altitude ?? 0) > 1 }
            let place = try context.fetch(FetchDescriptor(predicate: high)).first
            #expect(place?.latitude == 0.25)
            #expect(place?.visits == [AppStore.day(1), AppStore.day(2, hour: 3)])
        }
    }

    @Test("the places of a map that trips stop at cannot be deleted, regions can")
    func rules() throws {
        try store.launch(MapV2.self, MapPlan.self) { context in
            let used = try #require(
                try context.fetch(
                    FetchDescriptor<MapV2.Place>(predicate: #Predicate { !$0.stops.isEmpty })
                ).first)
            context.delete(used)
            #expect(throws: (any Error).self) { try context.save() }
            context.rollback()
            #expect(!used.isDeleted && used.stops.count > 0)
            try context.delete(
                model: MapV2.Place.self, where: #Predicate { $0.stops.isEmpty })
            try context.save()
            let left = try context.fetchCount(FetchDescriptor<MapV2.Place>())
            #expect(left == Set((0..<40).map { ($0 / 8 * 8 + $0 % 8 * 3) % 50 }).count)
            try context.delete(model: MapV2.Trip.self)
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<MapV2.Stop>()) == 0)
            #expect(try context.fetchCount(FetchDescriptor<MapV2.Path>()) == 0)
            let country = #Predicate<MapV2.Region> { $0.name == "Country 0" }
            let region = try #require(
                try context.fetch(FetchDescriptor(predicate: country)).first)
            let city = try #require(region.children.first)
            let places = city.places
            context.delete(region)
            context.delete(used)
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<MapV2.Region>()) == 9)
            #expect(places.allSatisfy { $0 === used || $0.region == nil })
            #expect(try context.fetchCount(FetchDescriptor<MapV2.Place>()) == left - 1)
        }
        try store.expectCurrent(MapV2.self, MapPlan.self)
    }

    @Test("the map finds places in bounds, in regions and on trips")
    func queries() throws {
        try store.launch(MapV2.self, MapPlan.self) { context in
            func names(_ predicate: Predicate<MapV2.Place>) throws -> [String] {
                try context.fetch(
                    FetchDescriptor(
                        predicate: predicate,
                        sortBy: [SortDescriptor(\.latitude), SortDescriptor(\.longitude)])
                ).map(\.name)
            }
            let bounds = MapBounds(south: 2, west: -3, north: 4, east: -1)
            #expect(
                try names(MapV2.Place.within(bounds)) == [
                    "Place 22", "Place 21", "Place 32", "Place 31",
                ])
            #expect(try names(#Predicate { $0.region?.parent?.name == "Country 2" }).count == 30)
            #expect(try names(#Predicate { $0.region?.parent?.parent?.parent != nil }).isEmpty)
            #expect(try names(#Predicate { $0.region == nil }).count == 10)
            #expect(
                try names(#Predicate { $0.stops.contains { $0.trip?.name == "Trip 4" } }).count
                    == 8)
            let pin = MapPin.home
            #expect(
                try names(
                    #Predicate { place in
                        place.pin == pin && place.coordinate.latitude < 1
                            && place.stops.filter { $0.position > 2 }.count == 1
                    }) == ["Place 9", "Place 3", "Place 0"])
            let busy = #Predicate<MapV2.Trip> { trip in
                trip.stops.contains { stop in
                    stop.place.flatMap { $0.region?.name == "City 00" } ?? false
                }
            }
            #expect(try context.fetchCount(FetchDescriptor(predicate: busy)) == 3)
            let stops = try context.fetch(
                FetchDescriptor<MapV2.Stop>(
                    sortBy: [
                        SortDescriptor(\.place?.region?.name, order: .reverse),
                        SortDescriptor(\.trip?.name), SortDescriptor(\.position),
                    ]))
            #expect(stops.count == 40)
            #expect(stops.first?.place?.region?.name == "City 11")
        }
    }
}
