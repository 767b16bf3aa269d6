import LarderModel

/// Divides texts into the words that a search compares, one after the other.
///
/// A word is a sequence of letters, digits and spacing marks, in the form of ``SearchForm``:
/// without case and accents. Every other scalar separates words. There are two exceptions. Scripts
/// that write no spaces between words (Chinese, Japanese, Thai and others) and symbols (emoji) have
/// one word per scalar, so that a search for several of them is a search for a phrase. Marks and
/// invisible format characters (joiners, soft hyphens) are part of the word and not compared.
///
/// Used by one thread at a time.
struct WordScanner {
    /// The compared bytes of a word in UTF-8; what follows is part of the word and not compared.
    static let comparedBytesMax = 256

    /// The form of the last word that was found, in UTF-8.
    private(set) var word: [UInt8] = []
    /// The offsets of the word in the text, with its marks.
    private(set) var range = 0..<0
    private var offset = 0
    private var isFull = false
    /// The classes and forms of scalars that the tables of ``SearchForm`` do not have.
    private var computed: [UInt32: Entry] = [:]

    private struct Entry {
        let kind: Kind
        let form: [UInt8]
    }

    private enum Kind: UInt8 {
        case separator
        case letter
        /// A word of one scalar.
        case whole
        /// Part of the word before it, and not compared.
        case mark
    }

    /// Begins another text.
    mutating func begin() { offset = 0 }

    /// Finds the next word of a text; false at the end and after an interruption.
    mutating func next(in text: Span<UInt8>, _ interruption: inout Interruption) -> Bool {
        word.removeAll(keepingCapacity: true)
        isFull = false
        var start: Int?
        while offset < text.count {
            let byte = text[offset]
            if byte < 0x80 {
                if interruption.isDue() { return false }
                let form = Self.asciiForms[Int(byte)]
                if form != 0 {
                    if start == nil { start = offset }
                    offset += 1
                    append(form)
                    continue
                }
                if let start { return found(start, text) }
                offset += 1
                continue
            }
            if interruption.isDue(after: 4) { return false }
            guard let (value, length) = text.scalar(at: offset), let scalar = Unicode.Scalar(value)
            else {
                if let start { return found(start, text) }
                offset += 1
                continue
            }
            switch kind(of: scalar) {
            case .separator:
                if let start { return found(start, text) }
                offset += length
            case .mark: offset += length
            case .letter:
                if start == nil { start = offset }
                offset += length
                append(scalar)
            case .whole:
                if let start { return found(start, text) }
                let start = offset
                offset += length
                append(scalar)
                skipMarks(text)
                return found(start, text)
            }
        }
        guard let start else { return false }
        return found(start, text)
    }

    private mutating func found(_ start: Int, _ text: Span<UInt8>) -> Bool {
        range = start..<offset
        return true
    }

    private mutating func skipMarks(_ text: Span<UInt8>) {
        while offset < text.count, text[offset] >= 0x80,
            let (value, length) = text.scalar(at: offset), let scalar = Unicode.Scalar(value),
            kind(of: scalar) == .mark
        {
            offset += length
        }
    }

    private mutating func append(_ byte: UInt8) {
        if word.count < Self.comparedBytesMax, !isFull { word.append(byte) } else { isFull = true }
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        if isFull { return }
        let count = word.count
        if let entry = computed[scalar.value] {
            word.append(contentsOf: entry.form)
        } else {
            SearchForm.append(scalar, to: &word)
        }
        guard word.count > Self.comparedBytesMax else { return }
        word.removeLast(word.count - count)
        isFull = true
    }

    // MARK: Classes of scalars

    private mutating func kind(of scalar: Unicode.Scalar) -> Kind {
        if scalar.value < Self.tableEnd { return Self.table[Int(scalar.value)] }
        if SearchForm.isIdeograph(scalar) { return .whole }
        if let known = computed[scalar.value] { return known.kind }
        var form: [UInt8] = []
        SearchForm.append(scalar, to: &form)
        let entry = Entry(kind: Self.computedKind(of: scalar), form: form)
        // The scripts of the world, and no text of all of Unicode.
        if computed.count >= 20_000 { computed.removeAll() }
        computed[scalar.value] = entry
        return entry.kind
    }

    private static let tableEnd: UInt32 = 0x590

    private static let table: [Kind] = (0..<tableEnd).map { value in
        Unicode.Scalar(value).map(computedKind) ?? .separator
    }

    /// The form of each ASCII character of words; 0 for separators.
    private static let asciiForms: [UInt8] = (0..<0x80).map { byte in
        switch UInt8(byte) {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"):
            UInt8(byte)
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt8(byte) + 32
        default: 0
        }
    }

    private static func computedKind(of scalar: Unicode.Scalar) -> Kind {
        // An emoji's skin tone.
        if (0x1F3FB...0x1F3FF).contains(scalar.value) { return .mark }
        // The space without a width separates words of scripts without other spaces.
        if scalar == "\u{200B}" { return .separator }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter,
            .decimalNumber, .letterNumber, .otherNumber, .privateUse:
            return formKind(of: scalar, .letter)
        case .otherLetter, .spacingMark:
            return formKind(of: scalar, isUnspaced(scalar) ? .whole : .letter)
        case .otherSymbol: return formKind(of: scalar, .whole)
        case .nonspacingMark, .enclosingMark, .format: return .mark
        default: return .separator
        }
    }

    /// A scalar whose form is empty is a mark.
    private static func formKind(of scalar: Unicode.Scalar, _ kind: Kind) -> Kind {
        var form: [UInt8] = []
        SearchForm.append(scalar, to: &form)
        return form.isEmpty ? .mark : kind
    }

    /// Whether a letter belongs to a script that writes no spaces between words.
    private static func isUnspaced(_ scalar: Unicode.Scalar) -> Bool {
        unspaced.contains { $0.contains(scalar.value) }
    }

    private static let unspaced: [ClosedRange<UInt32>] = [
        0x0E00...0x0EFF,  // Thai, Lao
        0x1000...0x109F,  // Myanmar
        0x1780...0x17FF,  // Khmer
        0x3005...0x3007, 0x3040...0x30FF, 0x31F0...0x31FF,  // Hiragana, Katakana
        0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF,  // ideographs
        0x20000...0x3FFFF,
    ]
}
