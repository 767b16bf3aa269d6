import LarderModel

extension StoredAttribute {
    /// A column as it can be stored without a look at its single values: each is in the form in
    /// which the attribute stores it, and within its bounds. nil where some value may not be, or
    /// takes more than a comparison to be judged: then ``ValueCheck`` looks at them one by one.
    func lent(_ column: Column) -> LentColumn? {
        guard attribute.isOptional || !column.nulls.contains(where: { $0 != 0 }),
            isSound(column)
        else { return nil }
        return LentColumn(column, isText: attribute.type == .string)
    }

    private func isSound(_ column: Column) -> Bool {
        switch (attribute.type, column.storage) {
        case (.bool, .integers(let values)): values.allSatisfy { $0 == 0 || $0 == 1 }
        case (.int16, .integers(let values)): isSound(values, Int64(Int16.min)...Int64(Int16.max))
        case (.int32, .integers(let values)): isSound(values, Int64(Int32.min)...Int64(Int32.max))
        case (.int64, .integers(let values)): isSound(values, .min ... .max)
        case (.double, .doubles(let values)): isSound(values, -.infinity ... .infinity)
        case (.date, .doubles(let values)):
            isSound(values, -.greatestFiniteMagnitude ... .greatestFiniteMagnitude)
        case (.float, .doubles(let values)):
            isSound(values, -.infinity ... .infinity)
                && values.allSatisfy { Double(Float($0)) == $0 }
        case (.string, .bytes(let heap, let ends)): isSoundText(heap, ends, column)
        case (.uuid, .bytes(_, let ends)), (.data, .bytes(_, let ends)):
            hasSoundLengths(ends, column)
        default: false
        }
    }

    private func isSound(_ values: [Int64], _ range: ClosedRange<Int64>) -> Bool {
        var (least, greatest) = (range.lowerBound, range.upperBound)
        if case .integer(let bound)? = minimum { least = max(least, bound) }
        if case .integer(let bound)? = maximum { greatest = min(greatest, bound) }
        return values.allSatisfy { $0 >= least && $0 <= greatest }
    }

    /// Of a NaN neither comparison is true.
    private func isSound(_ values: [Double], _ range: ClosedRange<Double>) -> Bool {
        var (least, greatest) = (range.lowerBound, range.upperBound)
        if case .real(let bound)? = minimum { least = max(least, bound) }
        if case .real(let bound)? = maximum { greatest = min(greatest, bound) }
        return values.allSatisfy { $0 >= least && $0 <= greatest }
    }

    /// Below U+0300, whose first byte is 0xCC, text is in the form NFC; ASCII without the carriage
    /// return, which may be one character with a line feed, has a character a byte.
    private func isSoundText(_ heap: [UInt8], _ ends: [UInt32], _ column: Column) -> Bool {
        let validation = attribute.validation
        guard validation.pattern == nil, heap.allSatisfy({ $0 < 0xCC }) else { return false }
        guard validation.minLength != nil || validation.maxLength != nil else { return true }
        return heap.allSatisfy { $0 < 0x80 && $0 != 0x0D } && hasSoundLengths(ends, column)
    }

    private func hasSoundLengths(_ ends: [UInt32], _ column: Column) -> Bool {
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
