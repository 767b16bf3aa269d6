internal import CoreDataPredicates
public import Foundation
internal import LarderModel
internal import XcodeModels

// Models that Xcode's editor has written. They are read as they are; there is no compiled form.
//
// A class of a model has no module. It is looked for under its name, in the module whose resources
// have the model, and in the program's own module.

extension NSManagedObjectModel {
    /// Reads a model: an `.xcdatamodeld` folder, whose current version is read, or an
    /// `.xcdatamodel` folder. For a compiled model (`.momd`, `.mom`) that does not exist, the
    /// folder of the same name is read.
    ///
    /// Returns nil if the model cannot be read. The reason goes to standard error, and so does what
    /// Larder does not have of a model.
    public convenience init?(contentsOf url: URL) {
        do throws(LarderError) {
            try self.init(file: Self.source(of: url))
        } catch {
            Log.write(error.message)
            return nil
        }
    }

    convenience init(file url: URL) throws(LarderError) {
        let model = try XcodeModelFile.read(url.path)
        for note in model.notes { Log.write("\(url.path): \(note)") }
        // The entities have their inherited properties in the schema.
        let schema = try model.schema()
        self.init()
        var descriptions: [String: NSEntityDescription] = [:]
        for entity in model.entities {
            let description = NSEntityDescription(entity.entity)
            description.properties += entity.transient.map { attribute in
                let transient = NSAttributeDescription(attribute)
                transient.isTransient = true
                return transient
            }
            description.properties += entity.fetched.sorted { $0.key < $1.key }.map {
                name, request in
                let fetched = NSFetchedPropertyDescription()
                fetched.name = name
                fetched.fetchRequest = NSFetchRequest(request)
                return fetched
            }
            if let name = entity.className {
                description.managedObjectClassName = Self.className(name, of: url)
            }
            descriptions[entity.entity.name] = description
        }
        for entity in schema.entities { descriptions[entity.name]?.connect(entity, descriptions) }
        entities = schema.entities.compactMap { descriptions[$0.name] }
        for request in model.fetchRequests {
            fetchRequestTemplatesByName[request.name] = NSFetchRequest(request)
        }
    }

    /// The model file for a URL that programs for Apple's systems ask for.
    private static func source(of url: URL) -> URL {
        let sources = ["momd": "xcdatamodeld", "mom": "xcdatamodel"]
        guard let ending = sources[url.pathExtension],
            !FileManager.default.fileExists(atPath: url.path)
        else { return url }
        return url.deletingPathExtension().appendingPathExtension(ending)
    }

    /// The name of the class with its module, if there is one.
    private static func className(_ name: String, of url: URL) -> String {
        // SwiftPM copies the resources of a target to PACKAGE_TARGET.resources.
        let bundle = url.pathComponents.last {
            $0.hasSuffix(".resources") || $0.hasSuffix(".bundle")
        }
        let target = bundle?.split(separator: ".")[0].split(separator: "_").last
        let program = Bundle.main.executableURL?.lastPathComponent
        let modules = [target.map { String($0) }, program].compactMap { $0 }
        return modules.map { "\($0).\(name)" }.first { NSClassFromString($0) != nil } ?? name
    }

    /// The model of a name among the program's resources and those of its packages.
    ///
    /// - Throws: `storageFailed` if there is none.
    static func named(_ name: String) throws(LarderError) -> NSManagedObjectModel {
        let folders = [Bundle.main.resourceURL, Bundle.main.bundleURL].compactMap { $0 }
        let nested = folders.flatMap { folder in
            let content = try? FileManager.default.contentsOfDirectory(
                at: folder, includingPropertiesForKeys: nil)
            return (content ?? []).filter { ["resources", "bundle"].contains($0.pathExtension) }
        }
        for folder in folders + nested {
            for ending in ["xcdatamodeld", "xcdatamodel"] {
                let file = folder.appending(path: "\(name).\(ending)")
                guard FileManager.default.fileExists(atPath: file.path) else { continue }
                return try NSManagedObjectModel(file: file)
            }
        }
        throw LarderError(
            .storageFailed, "the program has no model \(name).xcdatamodeld",
            hint: "copy it: resources: [.copy(\"\(name).xcdatamodeld\")]")
    }
}

/// A model that cannot be read. Its stores cannot be opened.
final class UnreadableModel: NSManagedObjectModel, @unchecked Sendable {
    private let reason: LarderError

    init(_ reason: LarderError) {
        self.reason = reason
        super.init()
    }

    override func compile() throws(LarderError) -> CompiledModel { throw reason }
}

extension NSFetchRequest where ResultType == any NSFetchRequestResult {
    /// A request of a model file. A mistake in its predicate is an error of the fetch.
    fileprivate convenience init(_ request: XcodeModel.FetchRequest) {
        self.init(entityName: request.entityName)
        predicate = request.predicate.map { NSPredicate(format: $0) }
        fetchLimit = max(0, request.limit)
        resultType = NSFetchRequestResultType(rawValue: request.resultType)
        includesSubentities = request.includesSubentities
    }
}

extension NSPersistentContainer {
    /// Uses the model of the same name among the program's resources and those of its packages. If
    /// there is none, opening the stores is an error that says so.
    public convenience init(name: String) {
        let model: NSManagedObjectModel
        do throws(LarderError) {
            model = try NSManagedObjectModel.named(name)
        } catch {
            model = UnreadableModel(error)
        }
        self.init(name: name, managedObjectModel: model)
    }
}
