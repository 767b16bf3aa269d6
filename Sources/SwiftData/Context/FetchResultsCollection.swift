internal import LarderModel
internal import LarderObjects

/// The result of a fetch, whose elements are read when they are used.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
    public typealias Index = Int
    public typealias Indices = Range<Int>

    private let source: any ResultSource<Element>

    init(_ source: any ResultSource<Element>) { self.source = source }

    init(elements: [Element]) { source = ArraySource(elements: elements) }

    public var startIndex: Int { 0 }
    public var endIndex: Int { source.count }
    public subscript(position: Int) -> Element { source.element(at: position) }
}

protocol ResultSource<Element> {
    associatedtype Element
    var count: Int { get }
    func element(at position: Int) -> Element
}

private struct ArraySource<Element>: ResultSource {
    let elements: [Element]
    var count: Int { elements.count }
    func element(at position: Int) -> Element { elements[position] }
}

/// Models of a context by their identifiers. It keeps the models of the batch that was read last.
final class BatchedModels<Model: PersistentModel>: ResultSource {
    private let context: ModelContext
    private let identifiers: [PersistentIdentifier]
    private let batchSize: Int
    private var batch: (range: Range<Int>, models: [PersistentIdentifier: Model]) = (0..<0, [:])

    init(_ context: ModelContext, _ identifiers: [PersistentIdentifier], batchSize: Int) {
        self.context = context
        self.identifiers = identifiers
        self.batchSize = batchSize
    }

    var count: Int { identifiers.count }

    /// A model that was deleted meanwhile says so. If it cannot be read, that is an error of the
    /// next fetch.
    func element(at position: Int) -> Model {
        if !batch.range.contains(position) { read(at: position) }
        let identifier = identifiers[position]
        if let model = batch.models[identifier] { return model }
        if !batch.range.contains(position) {
            return context.model(for: identifier) as? Model ?? Model.gone(from: context)
        }
        return context.registeredModel(for: identifier) ?? Model.gone(from: context)
    }

    private func read(at position: Int) {
        let start = position / batchSize * batchSize
        let range = start..<min(start + batchSize, identifiers.count)
        do throws(LarderError) {
            var models: [PersistentIdentifier: Model] = [:]
            for object in try context.objects.objects(for: Array(identifiers[range])) {
                models[object.identifier] = context.objects.instance(of: object) as? Model
            }
            batch = (range, models)
        } catch {
            batch = (0..<0, [:])
            context.objects.readFailed(error)
        }
    }
}
