/// The entities of model types, and of the types to which they lead.
struct EntityInference {
    private(set) var entities: [Schema.Entity] = []
    private(set) var problems: [String] = []
    let assumptions: [String]

    init(_ types: [any PersistentModel.Type]) {
        let models = Self.reachable(from: types)
        for (name, group) in Dictionary(grouping: models, by: \.entityName).sorted(by: {
            $0.key < $1.key
        }) where group.count > 1 {
            let types = group.map { String(reflecting: $0.type) }.sorted()
            problems.append(
                "several models are named `\(name)`: \(types.joined(separator: ", "))")
        }
        let inverses = InverseInference(models)
        problems += models.flatMap(\.problems) + inverses.problems
        assumptions = inverses.assumptions + models.compactMap(\.superclassAssumption)
        var byName: [String: Schema.Entity] = [:]
        // A superclass precedes its subclasses, whose entities it completes.
        for model in models.sorted(by: { $0.depth < $1.depth }) {
            let entity = Schema.Entity(model, inverses)
            if let name = model.superclass?.entityName, let superentity = byName[name] {
                entity.superentity = superentity
                entity.superentityName = name
                entity.inheritedProperties = superentity.properties
                superentity.subentities.insert(entity)
            }
            byName[model.entityName] = entity
            entities.append(entity)
        }
    }

    /// The descriptions of the types, of their superclasses and of the types to which they have
    /// relationships, in the order of their names.
    static func reachable(from types: [any PersistentModel.Type]) -> [ModelDescription] {
        var models: [ObjectIdentifier: ModelDescription] = [:]
        var pending = types
        while let type = pending.popLast() {
            guard models[ObjectIdentifier(type)] == nil else { continue }
            let model = ModelDescription.of(type)
            models[ObjectIdentifier(type)] = model
            pending += model.properties.compactMap(\.destination)
            if let superclass = model.superclass { pending.append(superclass.type) }
        }
        return models.values.sorted {
            ($0.entityName, String(reflecting: $0.type))
                < ($1.entityName, String(reflecting: $1.type))
        }
    }
}

extension ModelDescription {
    /// The number of superclasses.
    fileprivate var depth: Int { (superclass?.depth ?? -1) + 1 }

    /// A sentence about a superclass that is not a model, whose properties the macro does not see.
    fileprivate var superclassAssumption: String? {
        guard superclass == nil, let plain = _getSuperclass(type as AnyClass) else { return nil }
        return
            "\(String(reflecting: type)) inherits from \(String(reflecting: plain)), which is not "
            + "a model: properties of that class are not stored"
    }
}

extension Schema.Entity {
    /// The entity of a model without what it inherits.
    fileprivate convenience init(_ model: ModelDescription, _ inverses: InverseInference) {
        self.init(model.entityName)
        _objectType = model.type
        _mangledName = _mangledTypeName(model.type)
        ownProperties = model.ownProperties.map { property in
            switch property.kind {
            case .attribute(let coding): Schema.Attribute.attribute(property, coding)
            case .toOne, .toMany:
                Schema.Relationship(property, inverse: inverses.inverse(of: property, in: model))
            }
        }
        let ofProperties = model.ownProperties.filter { property in
            property.metadata?.isUnique == true
        }.map { [$0.name] }
        uniquenessConstraints = ofProperties
        for list in model.uniquenessConstraints where !uniquenessConstraints.contains(list) {
            uniquenessConstraints.append(list)
        }
        for list in model.indexes where !indices.contains(list) { indices.append(list) }
    }
}

extension Schema.Attribute {
    fileprivate static func attribute(
        _ property: ModelProperty, _ coding: AttributeCoding
    ) -> Schema.Attribute {
        let written = property.metadata as? Schema.Attribute
        let attribute =
            coding.isStructure
            ? Schema.CompositeAttribute(name: property.name, membersOf: coding, property.valueType)
            : Schema.Attribute(name: property.name, valueType: property.valueType)
        attribute.originalName = property.originalName
        attribute.options = written?.options ?? []
        attribute.defaultValue = property.declaredDefault
        attribute.hashModifier = property.hashModifier
        return attribute
    }
}

extension Schema.CompositeAttribute {
    /// An attribute with the stored properties of its structure, which a value without contents
    /// has. There are none if the type refuses such a value.
    fileprivate convenience init(
        name: String, membersOf coding: AttributeCoding, _ valueType: any Any.Type
    ) {
        self.init(name: name, valueType: valueType)
        guard let blank = coding.blank() else { return }
        properties = Mirror(reflecting: blank).children.compactMap { member in
            guard let name = member.label else { return nil }
            let type = type(of: member.value)
            let coding = AttributeCoding.coding(of: ValueType(type).wrapped)
            return coding.isStructure
                ? Schema.CompositeAttribute(name: name, membersOf: coding, type)
                : Schema.Attribute(name: name, valueType: type)
        }
    }
}

extension Schema.Relationship {
    fileprivate convenience init(_ property: ModelProperty, inverse: InverseInference.Inverse?) {
        let written = property.metadata as? Schema.Relationship
        self.init(
            deleteRule: written?.deleteRule ?? .nullify,
            minimumModelCount: written?.minimumModelCount ?? 0,
            maximumModelCount: written?.maximumModelCount ?? 0,
            inverse: inverse?.keyPath, hashModifier: property.hashModifier)
        options = written?.options ?? []
        name = property.name
        originalName = property.originalName
        keypath = property.keyPath
        valueType = property.valueType
        destination = property.destination.map(ModelDescription.entityName) ?? ""
        inverseName = inverse?.name
    }
}
