extension LiveScript {
    /// The number of scripts that may be tried to find a smaller one.
    private static let triesMax = 600

    /// The script without everything that a failure does not need: fewer queries, commits,
    /// changes, values, and parts of queries.
    ///
    /// - Parameter fails: Whether a script fails. The script itself must fail.
    func minimised(while fails: (LiveScript) throws -> Bool) rethrows -> LiveScript {
        var smallest = self
        var triesLeft = Self.triesMax
        func isTaken(_ candidate: LiveScript) throws -> Bool {
            guard triesLeft > 0 else { return false }
            triesLeft -= 1
            guard try fails(candidate) else { return false }
            smallest = candidate
            return true
        }
        /// Removes parts that are not needed: many at a time, then fewer.
        func reduce(
            _ count: (LiveScript) -> Int, _ remove: (LiveScript, Range<Int>) -> LiveScript
        ) throws {
            var length = max(1, count(smallest) / 2)
            while length > 0 {
                var start = 0
                while start < count(smallest) {
                    let end = min(start + length, count(smallest))
                    if try !isTaken(remove(smallest, start..<end)) { start = end }
                }
                length /= 2
            }
        }
        // One query first, because each step takes time for each query.
        for query in queries where queries.count > 1 {
            if try isTaken(LiveScript(queries: [query], steps: steps)) { break }
        }
        var size = -1
        while size != smallest.text.utf8.count {
            size = smallest.text.utf8.count
            try reduce({ $0.steps.count }, { $0.withoutSteps($1) })
            try reduce({ $0.editCount }, { $0.withoutEdits($1) })
            try reduce({ $0.valueCount }, { $0.withoutValues($1) })
            try reduce({ $0.queries.count }, { $0.withoutQueries($1) })
            while try smallest.withoutParts.contains(where: isTaken) {}
        }
        return smallest
    }

    /// The script with a check after each commit.
    var checked: LiveScript {
        let commits = steps.filter { $0 != .check }
        return LiveScript(queries: queries, steps: commits.flatMap { [$0, .check] })
    }

    private func withoutSteps(_ range: Range<Int>) -> LiveScript {
        var script = self
        script.steps.removeSubrange(range)
        return script
    }

    private func withoutQueries(_ range: Range<Int>) -> LiveScript {
        var script = self
        script.queries.removeSubrange(range)
        return script
    }

    private var editCount: Int {
        steps.reduce(0) { count, step in
            if case .save(let edits) = step { count + edits.count } else { count }
        }
    }

    private var valueCount: Int {
        steps.reduce(0) { count, step in
            guard case .save(let edits) = step else { return count }
            return edits.reduce(count) { $0 + $1.values.count }
        }
    }

    /// - Parameter range: Indexes of the changes of all commits.
    private func withoutEdits(_ range: Range<Int>) -> LiveScript {
        var index = -1
        return mapEdits { edit in
            index += 1
            return range.contains(index) ? nil : edit
        }
    }

    /// - Parameter range: Indexes of the values of all changes.
    private func withoutValues(_ range: Range<Int>) -> LiveScript {
        var index = -1
        return mapEdits { edit in
            var edit = edit
            for name in edit.values.keys.sorted() {
                index += 1
                if range.contains(index) { edit.values[name] = nil }
            }
            return edit
        }
    }

    private func mapEdits(_ transform: (Edit) -> Edit?) -> LiveScript {
        var script = self
        for (index, step) in steps.enumerated() {
            guard case .save(let edits) = step else { continue }
            script.steps[index] = .save(edits.compactMap(transform))
        }
        return script
    }

    /// Scripts in which a query lacks one part.
    private var withoutParts: [LiveScript] {
        queries.indices.flatMap { index in
            let query = queries[index]
            var simpler = Array(repeating: query, count: 3)
            (simpler[0].predicate, simpler[0].arguments) = (nil, [])
            simpler[1].columns = nil
            simpler[2].limit = nil
            for number in query.sort.indices {
                simpler.append(query)
                simpler[simpler.count - 1].sort.remove(at: number)
            }
            return simpler.filter { $0 != query }.map { simpler in
                var script = self
                script.queries[index] = simpler
                return script
            }
        }
    }
}
