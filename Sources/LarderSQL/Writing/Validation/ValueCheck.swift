import LarderModel

/// Checks values against their attributes.
///
/// Used on the writer's thread only, because compiled patterns are.
package final class ValueCheck {
    private var patterns: [String: RegularExpression] = [:]
    /// Counts the values for the budget of the set, and stops long checks.
    private let conversions: Conversions

    package init(_ conversions: Conversions) { self.conversions = conversions }

    /// Checks a value.
    ///
    /// - Returns: The stored form of the value.
    /// - Throws: `missingValue` for nil in an attribute that is not optional, `wrongType`, or
    ///   `validationFailed` for a value outside of the attribute's bounds.
    package func stored(
        _ value: Value, _ attribute: StoredAttribute
    ) throws(LarderError) -> SQLValue {
        do throws(LarderError) {
            try conversions.count(value)
            let stored = try SQLValue(
                storing: value, as: attribute.attribute.type, named: attribute.qualifiedName,
                conversions.interruption)
            try check(stored, attribute)
            if case .json(let text) = value { try checkJSON(text, attribute) }
            return stored
        } catch {
            throw detailed(error, attribute, valueKind: value.kindWithArticle)
        }
    }

    /// The stored form of the default, for an insert without a value.
    package func storedDefault(_ attribute: StoredAttribute) throws(LarderError) -> SQLValue {
        let stored = attribute.defaultValue ?? .null
        do throws(LarderError) {
            try check(stored, attribute)
        } catch {
            throw detailed(error, attribute, valueKind: nil)
        }
        return stored
    }

    private func detailed(
        _ error: LarderError, _ attribute: StoredAttribute, valueKind: String?
    ) -> LarderError {
        var violation =
            error.details.first ?? ChangeViolation(error.code, error.message, rule: .type)
        violation.entityName = attribute.entityName
        violation.propertyNames = [attribute.attribute.name]
        violation.valueKind = valueKind
        return LarderError(violation, hint: error.hint)
    }

    private func check(_ stored: SQLValue, _ attribute: StoredAttribute) throws(LarderError) {
        switch stored {
        case .null:
            guard attribute.attribute.isOptional else {
                throw violation(.optional, "\(attribute.qualifiedName) is required", .missingValue)
            }
        case .integer, .real: try checkBounds(stored, attribute)
        case .text(let text):
            if attribute.attribute.type == .decimal {
                try checkBounds(stored, attribute)
            } else {
                try checkText(text, attribute)
            }
        case .blob(let bytes):
            try checkLength(bytes.count, unit: "bytes", attribute)
        }
    }

    private func violation(
        _ rule: ChangeViolation.Rule, _ message: String, _ code: ErrorCode = .validationFailed
    ) -> LarderError {
        LarderError(ChangeViolation(code, message, rule: rule))
    }

    private func checkBounds(
        _ stored: SQLValue, _ attribute: StoredAttribute
    ) throws(LarderError) {
        if let minimum = attribute.minimum, stored.isLess(than: minimum) {
            throw violation(
                .minimum, "\(attribute.qualifiedName) must not be less than \(minimum.boundText)")
        }
        if let maximum = attribute.maximum, maximum.isLess(than: stored) {
            throw violation(
                .maximum,
                "\(attribute.qualifiedName) must not be greater than \(maximum.boundText)")
        }
    }

    private func checkText(_ text: String, _ attribute: StoredAttribute) throws(LarderError) {
        let validation = attribute.attribute.validation
        if validation.minLength != nil || validation.maxLength != nil {
            // Only as many characters are counted as the bounds need.
            let end = max(validation.maxLength ?? 0, validation.minLength ?? 0)
            let count = text.prefix(end == .max ? .max : end + 1).count
            try checkLength(count, unit: "characters", attribute)
        }
        guard let pattern = validation.pattern else { return }
        let isMatch: Bool
        do throws(RegularExpression.Problem) {
            isMatch = try expression(pattern).matchesWhole(text, conversions.interruption)
        } catch {
            throw violation(
                .pattern,
                "\(attribute.qualifiedName) cannot be compared with its pattern (\(error.message))")
        }
        guard isMatch else {
            var error = violation(.pattern, "\(attribute.qualifiedName) does not match its pattern")
            error.hint = "the pattern is \(pattern)"
            throw error
        }
    }

    private func checkLength(
        _ length: Int, unit: String, _ attribute: StoredAttribute
    ) throws(LarderError) {
        let validation = attribute.attribute.validation
        if let minimum = validation.minLength, length < minimum {
            throw violation(
                .minLength, "\(attribute.qualifiedName) needs at least \(minimum) \(unit)")
        }
        if let maximum = validation.maxLength, length > maximum {
            throw violation(
                .maxLength, "\(attribute.qualifiedName) takes at most \(maximum) \(unit)")
        }
    }

    private func checkJSON(_ text: String, _ attribute: StoredAttribute) throws(LarderError) {
        do throws(LarderError) {
            try JSONValue.check(text, conversions.interruption)
        } catch {
            throw LarderError(
                .malformedValue,
                "\(attribute.qualifiedName) takes a JSON document, and the text is not valid JSON")
        }
    }

    private func expression(
        _ pattern: String
    ) throws(RegularExpression.Problem) -> RegularExpression {
        if let compiled = patterns[pattern] { return compiled }
        let compiled = try RegularExpression(pattern)
        patterns[pattern] = compiled
        return compiled
    }
}

extension SQLValue {
    /// Compares two stored values of one attribute.
    fileprivate func isLess(than other: SQLValue) -> Bool {
        switch (self, other) {
        case (.integer(let one), .integer(let two)): one < two
        case (.real(let one), .real(let two)): one < two
        case (.text(let one), .text(let two)): DecimalText.compare(one, two) < 0
        default: false
        }
    }

    /// A bound of the schema for an error message; dates are seconds since 2001.
    fileprivate var boundText: String {
        switch self {
        case .integer(let integer): String(integer)
        case .real(let real): String(real)
        case .text(let text): text
        case .null, .blob: ""
        }
    }
}
