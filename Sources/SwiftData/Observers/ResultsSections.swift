/// The models of a result that have the same section name.
public struct ResultsSection<Element: PersistentModel, SectionName: Hashable>: Identifiable,
    RandomAccessCollection
{
    public typealias Index = Int
    public typealias Indices = Range<Int>

    public let name: SectionName
    private let models: [Element]

    init(name: SectionName, _ models: [Element]) {
        self.name = name
        self.models = models
    }

    public var id: SectionName { name }
    public var startIndex: Int { 0 }
    public var endIndex: Int { models.count }
    public subscript(position: Int) -> Element { models[position] }
}

/// The sections of a result, in the order of their first models.
public struct ResultsSectionCollection<Element: PersistentModel, SectionName: Hashable>:
    RandomAccessCollection
{
    public typealias Index = Int
    public typealias Indices = Range<Int>

    private let sections: [ResultsSection<Element, SectionName>]
    private let indexes: [SectionName: Int]

    init(_ models: [Element], name: (Element) -> SectionName) {
        var names: [SectionName] = []
        var members: [SectionName: [Element]] = [:]
        for model in models {
            let name = name(model)
            if members[name] == nil { names.append(name) }
            members[name, default: []].append(model)
        }
        sections = names.map { ResultsSection(name: $0, members[$0] ?? []) }
        indexes = Dictionary(
            names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { sections.count }
    public subscript(position: Int) -> ResultsSection<Element, SectionName> { sections[position] }

    public subscript(sectionName name: SectionName) -> ResultsSection<Element, SectionName>? {
        indexes[name].map { sections[$0] }
    }

    public func contains(sectionName name: SectionName) -> Bool { indexes[name] != nil }

    public func index(ofSectionNamed name: SectionName) -> Int? { indexes[name] }

    public var sectionNames: [SectionName] { sections.map(\.name) }
}
