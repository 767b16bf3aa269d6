package import LarderModel
package import LarderObjects
internal import LarderQuery

extension Schema {
    /// The descriptions of the schema's models, in the order of the entities. An entity without a
    /// class has none.
    package var descriptions: [ModelDescription] {
        entities.compactMap { $0._objectType.map(ModelDescription.of) }
    }

    /// The schema as the store has it.
    ///
    /// It depends on the types alone, not on their order, and has the same fingerprint in every
    /// process: only default values that are constants belong to it.
    ///
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` with all problems.
    package func larderSchema() throws -> LarderModel.Schema {
        let problems = problems + entities.flatMap(\.ephemeralProblems)
        guard problems.isEmpty else { throw Self.error(problems) }
        do {
            return try LarderModel.Schema(
                version: version.description, entities: entities.map { $0.larderEntity() })
        } catch {
            throw Self.error(error.problems.map(\.description))
        }
    }

    /// The default values that are not constants, evaluated for each object.
    package var computedDefaults: ComputedDefaults {
        var computed: [String: [String: ComputedDefaults.Compute]] = [:]
        for model in descriptions {
            for property in model.properties.dropFirst(model.firstOwnSlot) {
                guard let coding = property.coding, property.declaredDefault != nil,
                    !property.isDefaultConstant
                else { continue }
                let (type, name) = (model.type, property.name)
                computed[model.storeName, default: [:]][property.storeName] = {
                    let value = type.schemaMetadata.first { $0.name == name }?.defaultValue
                    return value.flatMap { try? coding.encode($0) }
                }
            }
        }
        return ComputedDefaults(computed)
    }

    private static func error(_ problems: [String]) -> SwiftDataError {
        SwiftDataError.loadIssueModelContainer.explained(problems.joined(separator: "\n"))
    }
}

extension Schema.Entity {
    fileprivate func larderEntity() -> LarderModel.Entity {
        let model = _objectType.map(ModelDescription.of)
        let unique = uniquenessConstraints.map { $0.map(StoreName.of) }
        var attributes: [LarderModel.Attribute] = []
        var relationships: [LarderModel.Relationship] = []
        for property in ownProperties {
            switch property {
            case let attribute as Schema.Attribute where !attribute.isTransient:
                let described = model?.property(named: attribute.name)
                attributes.append(
                    attribute.larderAttribute(
                        described, isUnique: unique.contains([StoreName.of(attribute.name)])))
            case let relationship as Schema.Relationship:
                relationships.append(relationship.larderRelationship())
            default: break
            }
        }
        let uniqueAttributes = Set(attributes.filter(\.isUnique).map(\.name))
        let inherited = superentity
        return LarderModel.Entity(
            name: StoreName.of(name), attributes: attributes, relationships: relationships,
            uniquenessConstraints: unique.filter { list in
                !(list.count == 1 && uniqueAttributes.contains(list[0]))
                    && inherited?.hasConstraint(list) != true
            },
            indexes: indices.map { $0.map(StoreName.of) }.filter {
                inherited?.hasIndex($0) != true
            },
            parent: superentityName.map(StoreName.of))
    }

    /// Constraints and indexes of attributes that the store does not have.
    fileprivate var ephemeralProblems: [String] {
        let ephemeral = Set(properties.filter(\.isTransient).map(\.name))
        func problems(_ lists: [[String]], _ what: String) -> [String] {
            Set(lists.joined()).intersection(ephemeral).sorted().map {
                "\(name).\($0) is ephemeral, so it cannot be \(what)"
            }
        }
        return problems(uniquenessConstraints, "unique") + problems(indices, "in an index")
    }

    private func hasConstraint(_ list: [String]) -> Bool {
        uniquenessConstraints.contains { Set($0.map(StoreName.of)) == Set(list) }
            || superentity?.hasConstraint(list) == true
    }

    private func hasIndex(_ list: [String]) -> Bool {
        indices.contains { $0.map(StoreName.of) == list } || superentity?.hasIndex(list) == true
    }
}

extension Schema.Attribute {
    fileprivate func larderAttribute(
        _ described: ModelProperty?, isUnique: Bool
    ) -> LarderModel.Attribute {
        let value = ValueType(valueType)
        let coding = described?.coding ?? AttributeCoding.coding(of: value.wrapped, options)
        let isConstant = described?.isDefaultConstant == true
        return LarderModel.Attribute(
            name: StoreName.of(name), type: coding.type,
            isOptional: value.isOptional,
            defaultValue: isConstant ? described?.defaultValue : nil,
            unique: isUnique ? .exact : nil,
            preservesValueOnDeletion: options.contains(.preserveValueOnDeletion),
            originalName: StoreName.original(originalName, of: name), hashModifier: hashModifier)
    }
}

extension Schema.Relationship {
    fileprivate func larderRelationship() -> LarderModel.Relationship {
        let isToMany = RelationshipType(valueType)?.isToMany ?? !isToOneRelationship
        let minimum = max(minimumModelCount ?? 0, 0)
        return LarderModel.Relationship(
            name: StoreName.of(name), destination: StoreName.of(destination), isToMany: isToMany,
            isOptional: isOptional || (isToMany && minimum == 0),
            inverse: inverseName.map(StoreName.of),
            deleteRule: LarderModel.Relationship.DeleteRule(rawValue: deleteRule.rawValue)
                ?? .nullify,
            minCount: isToMany ? minimum : 0,
            maxCount: isToMany ? max(maximumModelCount ?? 0, 0) : 0,
            originalName: StoreName.original(originalName, of: name), hashModifier: hashModifier)
    }
}

extension StoreName {
    /// The former name of a property; nil if it has always had its name.
    static func original(_ originalName: String, of name: String) -> String? {
        originalName.isEmpty || originalName == name ? nil : of(originalName)
    }
}
