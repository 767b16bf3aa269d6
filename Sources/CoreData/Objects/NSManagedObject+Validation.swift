internal import CoreDataPredicates
internal import Foundation
internal import LarderModel
internal import LarderObjects

// The rules of a model are checked by the context that saves, before the store checks them: hooks
// of a class may replace values, and a context with a parent has no store of its own.

extension NSManagedObject {
    /// Checks the properties with values to save: all of a new object, and the changed ones of
    /// another.
    func validateProperties() throws {
        guard let known = _$object.entity else { return }
        let committed = _$object.context?.committedValues(of: _$object) ?? [:]
        let isNew = _$object.status == .inserted
        let descriptions = entity.propertiesBySlot
        // Without a class of its own, nothing but rules can reject a value.
        let isPlain = type(of: self) == NSManagedObject.self
        var errors: [NSError] = []
        for property in known.properties
        where (isNew || committed[property.slot] != nil)
            && descriptions.indices.contains(property.slot)
        {
            guard let description = descriptions[property.slot],
                !isPlain || property.kind == .toMany || description.hasRules
            else { continue }
            collect(&errors) {
                if property.kind == .toMany {
                    try checkCount(property, description)
                } else {
                    try validate(property, description)
                }
            }
        }
        if let error = NSError.combined(errors) { throw error }
    }

    /// Checks that no relationship denies the deletion.
    func validateDeletion() throws {
        guard let known = _$object.entity, let objects = _$object.context else { return }
        var errors: [NSError] = []
        for property in known.properties where property.relationship?.deleteRule == .deny {
            let related = objects.relatedObjects(of: _$object, at: property.slot)
            if related.contains(where: { $0.status == .saved || $0.status == .inserted }) {
                errors.append(
                    validationError(
                        NSValidationRelationshipDeniedDeleteError, property.name,
                        "has objects, and denies the deletion"))
            }
        }
        if let error = NSError.combined(errors) { throw error }
    }

    private func collect(_ errors: inout [NSError], _ body: () throws -> Void) {
        do { try body() } catch { errors += (error as NSError).validationErrors }
    }

    private func validate(_ property: ObjectProperty, _ description: NSPropertyDescription) throws {
        // The store has the default value of what was not set.
        let attribute = description as? NSAttributeDescription
        if attribute?.derivation != nil || attribute?.defaultValue != nil,
            _$object[property.slot] == nil
        {
            return
        }
        let current =
            property.kind == .attribute
            ? _$object.value(at: property.slot)?.anyValue : entityValue(forKey: property.name)
        var value = current
        try validateValue(&value, forKey: property.name)
        if !Self.isSame(value, current) { setValue(value, forKey: property.name) }
    }

    private static func isSame(_ first: Any?, _ second: Any?) -> Bool {
        switch (first, second) {
        case (nil, nil): true
        case (let first as String, let second as String): first == second
        case (let first?, let second?):
            (first as AnyObject) === (second as AnyObject)
                || (try? Value(of: first)) == (try? Value(of: second))
        default: false
        }
    }

    private func checkCount(_ property: ObjectProperty, _ description: NSPropertyDescription) throws
    {
        guard let relationship = property.relationship,
            !relationship.isOptional || relationship.minCount > 0 || relationship.maxCount > 0,
            _$object[property.slot] != nil, let objects = _$object.context
        else { return }
        let count = objects.relatedObjects(of: _$object, at: property.slot).count
        let least =
            relationship.isOptional
            ? (count == 0 ? 0 : relationship.minCount) : max(1, relationship.minCount)
        if count < least {
            throw validationError(
                NSValidationRelationshipLacksMinimumCountError, property.name,
                "needs at least \(least) objects")
        }
        if relationship.maxCount > 0, count > relationship.maxCount {
            throw validationError(
                NSValidationRelationshipExceedsMaximumCountError, property.name,
                "takes at most \(relationship.maxCount) objects")
        }
    }

    // MARK: - Values

    /// Checks a value by the rules of a property.
    func check(_ value: Any?, forKey key: String) throws {
        guard let description = entity.property(named: key) else {
            throw validationError(
                NSManagedObjectValidationError, key.prefix(Limits.nameBytesMax).description,
                "is not a property of the entity")
        }
        let value = value is NSNull ? nil : value
        guard let value else {
            let isMissing =
                !description.isOptional
                && (description as? NSRelationshipDescription)?.isToMany != true
            guard isMissing else { return }
            throw validationError(
                NSValidationMissingMandatoryPropertyError, key, "is required")
        }
        var errors: [NSError] = []
        if let attribute = description as? NSAttributeDescription {
            errors += attributeErrors(value, key, attribute)
        } else if let relationship = description as? NSRelationshipDescription,
            !relationship.isToMany
        {
            let destination = relationship.destinationEntity?.name ?? ""
            if (value as? NSManagedObject)?.entity.isKind(of: destination) != true {
                errors.append(
                    validationError(
                        NSManagedObjectValidationError, key, "takes an object of \(destination)",
                        value))
            }
        }
        if errors.isEmpty { errors += predicateErrors(value, key, description) }
        if let error = NSError.combined(errors) { throw error }
    }

    private func attributeErrors(
        _ value: Any, _ key: String, _ attribute: NSAttributeDescription
    ) -> [NSError] {
        do throws(LarderError) {
            let stored = try attribute.storeValue(of: value)
            return attribute.violations(of: stored).map { code, reason in
                validationError(code, key, reason, value)
            }
        } catch {
            return [
                NSError.coreData(
                    error, code: NSManagedObjectValidationError,
                    info: [
                        NSValidationKeyErrorKey: key, NSValidationObjectErrorKey: self,
                        NSValidationValueErrorKey: value,
                    ])
            ]
        }
    }

    private func predicateErrors(
        _ value: Any, _ key: String, _ description: NSPropertyDescription
    ) -> [NSError] {
        description.ownPredicates.enumerated().compactMap { index, predicate in
            let warnings = description.ownWarnings
            let warning = warnings.indices.contains(index) ? warnings[index] : nil
            let text = warning as? String ?? ""
            do {
                if try predicate.holds(for: value) { return nil }
                return validationError(
                    (warning as? NSNumber)?.intValue ?? NSManagedObjectValidationError, key,
                    text.isEmpty ? "does not satisfy \(predicate.predicateFormat)" : text, value,
                    predicate)
            } catch {
                return validationError(
                    NSManagedObjectValidationError, key, error.localizedDescription, value,
                    predicate)
            }
        }
    }

    private func validationError(
        _ code: Int, _ key: String, _ reason: String, _ value: Any? = nil,
        _ predicate: NSPredicate? = nil
    ) -> NSError {
        var info: [String: Any] = [
            NSValidationKeyErrorKey: key, NSValidationObjectErrorKey: self,
        ]
        if let value { info[NSValidationValueErrorKey] = value }
        if let predicate { info[NSValidationPredicateErrorKey] = predicate }
        let error = LarderError(.validationFailed, "\(entity.name ?? "").\(key) \(reason)")
        return NSError.coreData(error, code: code, info: info)
    }
}

extension NSEntityDescription {
    /// The descriptions of the compiled entity's properties.
    fileprivate var propertiesBySlot: [NSPropertyDescription?] {
        name.flatMap { compiledModel?.properties[$0] } ?? []
    }

    fileprivate func property(named key: String) -> NSPropertyDescription? {
        guard let name, let model = compiledModel,
            let slot = model.entities[name]?.slot(named: key),
            let known = model.properties[name], known.indices.contains(slot)
        else { return propertiesByName[key] }
        return known[slot]
    }
}

extension NSPropertyDescription {
    fileprivate var hasRules: Bool {
        let attribute = self as? NSAttributeDescription
        return !isOptional || !ownPredicates.isEmpty
            || attribute.map { $0.validation != Attribute.Validation() } == true
    }
}

extension NSAttributeDescription {
    /// The rules of the model file that a value breaks, with Core Data's codes.
    fileprivate func violations(of value: Value) -> [(code: Int, reason: String)] {
        var violations: [(Int, String)] = []
        let isDate = attributeType == .dateAttributeType
        if let minimum = validation.minimum, value.order(to: minimum) < 0 {
            violations.append(
                (
                    isDate ? NSValidationDateTooSoonError : NSValidationNumberTooSmallError,
                    "must not be less than \(minimum.text)"
                ))
        }
        if let maximum = validation.maximum, value.order(to: maximum) > 0 {
            violations.append(
                (
                    isDate ? NSValidationDateTooLateError : NSValidationNumberTooLargeError,
                    "must not be greater than \(maximum.text)"
                ))
        }
        let length: Int? =
            switch value {
            case .string(let text): text.count
            case .data(let data): data.count
            default: nil
            }
        if let length, let minimum = validation.minLength, length < minimum {
            violations.append(
                (NSValidationStringTooShortError, "needs at least \(minimum) characters"))
        }
        if let length, let maximum = validation.maxLength, length > maximum {
            violations.append(
                (NSValidationStringTooLongError, "takes at most \(maximum) characters"))
        }
        if let pattern = validation.pattern, case .string(let text) = value,
            !NSPredicate(format: "SELF MATCHES %@", pattern).evaluate(with: text)
        {
            violations.append(
                (NSValidationStringPatternMatchingError, "does not match its pattern"))
        }
        return violations
    }
}

extension Value {
    fileprivate var text: String { anyValue.map { "\($0)" } ?? "nil" }
}

extension NSError {
    /// The errors of one that has several.
    var validationErrors: [NSError] {
        (userInfo[NSDetailedErrorsKey] as? [NSError]) ?? [self]
    }

    /// One error for several; nil for none.
    static func combined(_ errors: [NSError]) -> NSError? {
        guard errors.count > 1 else { return errors.first }
        let error = LarderError(
            .validationFailed, errors.map(\.localizedDescription).joined(separator: "\n"))
        return .coreData(
            error, code: NSValidationMultipleErrorsError, info: [NSDetailedErrorsKey: errors])
    }
}
