// The members of a model class as source text.

extension ModelDeclaration {
    /// The members of the topmost class of a hierarchy.
    var membersOfRoot: [String] {
        storageDeclarations + [
            "private static var \(firstSlot): Swift.Int { 0 }",
            """
            public \(finalModifier)var _$object: SwiftData._StoredObject {
                get { \(values) }
                set { \(storage) = newValue }
            }
            """,
            "public \(finalModifier)var _$context: SwiftData.ModelContext?",
            """
            public \(finalModifier)var persistentBackingData:
                any SwiftData.BackingData<\(typeName)>
            {
                get { SwiftData._backingData(of: self) }
                set { SwiftData._adopt(newValue, by: self) }
            }
            """,
            "\(overridable("func")) _$unite() {}",
        ]
            + initializers(
                isFinal ? "" : "required ", backingDataOf: typeName,
                assignment: "\(storage) = _$object")
            + commonMembers(overridable: overridable)
            + keyPaths(inherited: nil, overridable: overridable)
    }

    /// The members of a class whose superclass is a model.
    var membersOfSubclass: [String] {
        let superclass = firstInheritedType ?? typeName
        return storageDeclarations + [
            "private static let \(firstSlot) = SwiftData._slotCount(of: \(superclass).self)",
            """
            \(overriding("func")) _$unite() {
                super._$unite()
                guard \(storage) !== _$object else { return }
                if let level = \(storage) { _$object.unite(with: level) }
                \(storage) = _$object
            }
            """,
        ]
            + initializers(
                "required ", backingDataOf: "\(typeName).Root",
                assignment: """
                    \(storage) = _$object
                        super.init(_$object: _$object)
                    """)
            + commonMembers(overridable: overriding)
            + keyPaths(inherited: superclass, overridable: overriding)
    }

    /// The key paths of a subclass for the properties that it inherits. They are not equal to those
    /// of the superclass, and only a generic function can make them.
    private func keyPaths(
        inherited superclass: String?, overridable: (String) -> String
    ) -> [String] {
        var members: [String] = []
        if let superclass {
            members.append(
                """
                \(overridable("class")) var _$inheritedKeyPaths: [Swift.AnyKeyPath] {
                    \(superclass)._$keyPaths(of: \(typeName).self)
                }
                """)
        } else if !isFinal {
            members.append(
                "\(overridable("class")) var _$inheritedKeyPaths: [Swift.AnyKeyPath] { [] }")
        }
        if isFinal { return members }
        let own = properties.map { "\\_M.\($0.name)" }.joined(separator: ", ")
        let inherited = superclass.map { "\($0)._$keyPaths(of: type) + " } ?? ""
        members.append(
            """
            public static func _$keyPaths<_M: \(typeName)>(
                of type: _M.Type
            ) -> [Swift.AnyKeyPath] {
                \(inherited)[\(own)]
            }
            """)
        return members
    }

    private func commonMembers(overridable: (String) -> String) -> [String] {
        [
            schemaMetadata(overridable("class")),
            constantDefaults(overridable("class")),
            notification(overridable("func")),
            """
            nonisolated func access<_M>(keyPath: Swift.KeyPath<\(typeName), _M>) {
                _$object.access(self, keyPath: keyPath)
            }
            """,
            """
            nonisolated func withMutation<_M, _MR>(
                keyPath: Swift.KeyPath<\(typeName), _M>, _ mutation: () throws -> _MR
            ) rethrows -> _MR {
                try _$object.withMutation(of: self, keyPath: keyPath, mutation)
            }
            """,
        ]
    }

    private var finalModifier: String { isFinal ? "" : "final " }

    /// The modifiers and the introducer of a member that subclasses may override.
    private func overridable(_ introducer: String) -> String {
        guard isFinal else { return "\(overridableAccess)\(introducer)" }
        return "public \(introducer == "class" ? "static" : introducer)"
    }

    private func overriding(_ introducer: String) -> String {
        "\(isFinal ? "public " : overridableAccess)override \(introducer)"
    }

    /// The storage is made when it is used first, because an instance for an object of a context
    /// gets that object instead.
    private var storageDeclarations: [String] {
        [
            "private \(finalModifier)var \(storage): SwiftData._StoredObject?",
            """
            private \(finalModifier)var \(values): SwiftData._StoredObject {
                if let object = \(storage) { return object }
                let object = SwiftData._newObject()
                \(storage) = object
                return object
            }
            """,
        ]
    }

    private func initializers(
        _ modifier: String, backingDataOf type: String, assignment: String
    ) -> [String] {
        let initializations = properties.map { "    _\($0.plainName) = .init()\n" }
        return [
            """
            public \(modifier)init(_$object: SwiftData._StoredObject) {
            \(initializations.joined())    \(assignment)
            }
            """,
            """
            public \(modifier)convenience init(
                backingData: any SwiftData.BackingData<\(type)>
            ) {
                self.init(_$object: SwiftData._object(of: backingData))
            }
            """,
        ]
    }

    /// Separate statements, because the type checker's time for an array of many elements grows
    /// faster than their number.
    private func schemaMetadata(_ introducer: String) -> String {
        let elements =
            properties.map { property in
                element(
                    name: property.plainName, keyPath: "\\\(typeName).\(property.name)",
                    defaultValue: property.defaultValue, metadata: property.metadata)
            }
            + constraints.map { constraint in
                element(
                    name: constraint.type, keyPath: "\\SwiftData.Schema.encodingVersion",
                    defaultValue: constraint.uncheckedNames.map { "\($0)" },
                    metadata: constraint.expression)
            }
        return """
            \(introducer) var schemaMetadata: [SwiftData.Schema.PropertyMetadata] {
                var metadata: [SwiftData.Schema.PropertyMetadata] = []
                metadata.reserveCapacity(\(elements.count))
            \(elements.joined(separator: "\n"))
                return metadata
            }
            """
    }

    private func element(
        name: String, keyPath: String, defaultValue: String?, metadata: String?
    ) -> String {
        """
            metadata.append(
                SwiftData.Schema.PropertyMetadata(
                    name: "\(name)", keypath: \(keyPath),
                    defaultValue: \(defaultValue ?? "nil"), metadata: \(metadata ?? "nil")))
        """
    }

    private func constantDefaults(_ introducer: String) -> String {
        let names = properties.filter { $0.initialValue?.isConstant == true }.map {
            "\"\($0.plainName)\""
        }
        return """
            \(introducer) var _$constantDefaults: [Swift.String] {
                [\(names.joined(separator: ", "))]
            }
            """
    }

    private func notification(_ introducer: String) -> String {
        let isOverride = introducer.contains("override")
        let fallback = isOverride ? "super._$notify(slot: slot)" : "break"
        let cases = properties.enumerated().map { slot, property in
            "    case \(slot): _$object.notify(self, \\\(typeName).\(property.name))\n"
        }
        return """
            \(introducer) _$notify(slot: Swift.Int) {
                switch slot - \(typeName).\(firstSlot) {
            \(cases.joined())    default: \(fallback)
                }
            }
            """
    }
}
