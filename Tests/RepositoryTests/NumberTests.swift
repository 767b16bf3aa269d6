import Testing

/// The parts of `docs/decisions/0049-numbers-from-outside.md` that text shows.
@Suite("Numbers from outside do not trap")
struct NumberTests {
    /// The labels of conversions that cannot trap.
    private static let total = ["exactly:", "clamping:", "clamped:", "truncatingIfNeeded:"]

    private func forEachLine(
        under folders: [String],
        _ body: (_ line: String, _ above: [String], _ place: String) -> Void
    ) throws {
        let files = try Repository.files(under: folders, endings: [".swift"])
        #expect(!files.isEmpty)
        for file in files {
            for (number, line) in file.lines.enumerated() {
                guard !line.drop(while: { $0 == " " }).hasPrefix("//") else { continue }
                let above = file.lines[max(0, number - 6)..<number].map(String.init)
                body(String(line), above, "\(file.path):\(number + 1)")
            }
        }
    }

    @Test("a floating-point number or a duration becomes an integer by `clamped:` or `exactly:`")
    func floatingPoint() throws {
        // NaN, infinity and 1e300 trap.
        let conversion =
            /\bU?Int(?:8|16|32|64|128)?\(.*(?:\.rounded\(|timeInterval|\/ \.\w*seconds\()/
        try forEachLine(under: ["Sources"]) { line, _, place in
            guard let match = line.firstMatch(of: conversion) else { return }
            let isTotal = Self.total.contains { match.0.contains("(\($0)") }
            #expect(isTotal, "\(place): \(match.0)")
        }
    }

    @Test("a wrapped sum is used only after its overflow was tested")
    func wrappedSums() throws {
        try forEachLine(under: ["Sources"]) { line, above, place in
            guard line.contains(".partialValue") else { return }
            #expect(
                (above + [line]).contains { $0.contains(".overflow") },
                "\(place): use addingClamped, or test `overflow` first")
        }
    }

    @Test("a comment says why a number fits into fewer bits, in the code of messages")
    func narrowing() throws {
        let folders = [
            "Sources/LarderWire", "Sources/LarderClient", "Sources/LarderServer/Live",
            "Sources/LarderServer/Feed", "Sources/LarderServer/Reading",
            "Sources/LarderServer/Writing", "Sources/LarderServer/Backup",
        ]
        // Not constants of C and of `Limits`, and not single bytes.
        let conversion =
            /\bU?Int(?:8|16|32)\((?![a-zA-Z]+: )(?![A-Z]{2}|Limits\.|0\)|byte\b|POLL)/
        try forEachLine(under: folders) { line, above, place in
            guard line.contains(conversion) else { return }
            #expect(
                (above + [line]).contains { $0.contains("//") && $0.contains("fit") },
                """
                \(place): use exactly:, clamping: or truncatingIfNeeded:, or say in a comment why \
                the number fits
                """)
        }
    }
}
