import LarderModel
@_spi(_Unicode) import Swift

enum StringMatching {
    static func folded(_ text: String, _ options: Comparison.Options) -> String {
        var result = text
        if options.contains(.diacriticInsensitive) {
            var scalars = String.UnicodeScalarView()
            for s in result._nfd where s.properties.generalCategory != .nonspacingMark {
                scalars.append(s)
            }
            result = String(scalars)
        }
        if options.contains(.caseInsensitive) { result = result.lowercased() }
        return SQLBinding.normalized(result)
    }
    static func matches(
        _ text: String, _ op: Comparison.Operator, _ pattern: String, _ options: Comparison.Options
    ) -> Bool {
        let t = Array(folded(text, options))
        let p = Array(folded(pattern, options))
        switch op {
        case .beginsWith: return t.starts(with: p)
        case .endsWith: return t.reversed().starts(with: p.reversed())
        case .contains:
            return t.count >= p.count
                && (0...(t.count - p.count)).contains { t[$0...].starts(with: p) }
        default: return false
        }
    }
}
