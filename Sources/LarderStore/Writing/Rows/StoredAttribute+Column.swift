import LarderModel
import LarderSQL

extension StoredAttribute {
    /// A column that can be stored without checking its values one by one: each is in the stored
    /// form of the attribute and within its bounds. nil if a value may be invalid, or if it takes
    /// more than a comparison to decide; then ``ValueCheck`` checks each value.
    func validColumn(_ column: Column) -> BoundColumn? {
        guard attribute.isOptional || !column.nulls.contains(where: { $0 != 0 }),
            isValid(column)
        else { return nil }
        return BoundColumn(column, isText: [.string, .decimal].contains(attribute.type))
    }

    private func isValid(_ column: Column) -> Bool {
        switch (attribute.type, column.storage) {
        case (.bool, .integers(let values)): values.allSatisfy { $0 == 0 || $0 == 1 }
        case (.int16, .integers(let values)): isValid(values, Int64(Int16.min)...Int64(Int16.max))
        case (.int32, .integers(let values)): isValid(values, Int64(Int32.min)...Int64(Int32.max))
        case (.int64, .integers(let values)): isValid(values, .min ... .max)
        case (.double, .doubles(let values)): isValid(values, -.infinity ... .infinity)
        case (.date, .doubles(let values)):
            isValid(values, -.greatestFiniteMagnitude ... .greatestFiniteMagnitude)
        case (.float, .doubles(let values)):
            isValid(values, -.infinity ... .infinity)
                && values.allSatisfy { Double(Float($0)) == $0 }
        case (.string, .bytes(let heap, let ends)): isValidText(heap, ends, column)
        case (.decimal, .bytes(let heap, let ends)):
            minimum == nil && maximum == nil && areCanonical(heap, ends, column)
        case (.uuid, .bytes(_, let ends)), (.data, .bytes(_, let ends)):
            hasValidLengths(ends, column)
        default: false
        }
    }

    private func isValid(_ values: [Int64], _ range: ClosedRange<Int64>) -> Bool {
        var (least, greatest) = (range.lowerBound, range.upperBound)
        if case .integer(let bound)? = minimum { least = max(least, bound) }
        if case .integer(let bound)? = maximum { greatest = min(greatest, bound) }
        return values.allSatisfy { $0 >= least && $0 <= greatest }
    }

    /// Both comparisons are false for NaN.
    private func isValid(_ values: [Double], _ range: ClosedRange<Double>) -> Bool {
        var (least, greatest) = (range.lowerBound, range.upperBound)
        if case .real(let bound)? = minimum { least = max(least, bound) }
        if case .real(let bound)? = maximum { greatest = min(greatest, bound) }
        return values.allSatisfy { $0 >= least && $0 <= greatest }
    }

    /// Text below U+0300, which begins with the byte 0xCC, is in normalization form C. ASCII text
    /// has one character per byte, unless it contains a carriage return, which may be one character
    /// together with a line feed.
    private func isValidText(_ heap: [UInt8], _ ends: [UInt32], _ column: Column) -> Bool {
        let validation = attribute.validation
        guard validation.pattern == nil, heap.allSatisfy({ $0 < 0xCC }) else { return false }
        guard validation.minLength != nil || validation.maxLength != nil else { return true }
        return heap.allSatisfy { $0 < 0x80 && $0 != 0x0D } && hasValidLengths(ends, column)
    }

    private func areCanonical(_ heap: [UInt8], _ ends: [UInt32], _ column: Column) -> Bool {
        var start = 0
        for (row, end) in ends.enumerated() {
            let text = heap[start..<Int(end)]
            start = Int(end)
            guard DecimalText.isCanonical(text) || column.isNull(at: row) else { return false }
        }
        return true
    }

    private func hasValidLengths(_ ends: [UInt32], _ column: Column) -> Bool {
        let validation = attribute.validation
        guard validation.minLength != nil || validation.maxLength != nil else { return true }
        let (least, greatest) = (validation.minLength ?? 0, validation.maxLength ?? .max)
        var start: UInt32 = 0
        for (row, end) in ends.enumerated() {
            let length = Int(end - start)
            start = end
            guard length >= least && length <= greatest || column.isNull(at: row) else {
                return false
            }
        }
        return true
    }
}
