// The members of a model class as source text.

extension ModelDeclaration {
    /// The members of the topmost class of a hierarchy.
    var membersOfRoot: [String] {
        let members =
            storageDeclarations + [
                "private static var \(firstSlot): Swift.Int { 0 }",
                """
                public \(finalModifier)var _$object: SwiftData._StoredObject {
                    get { \(values) }
                    set { \(storage) = newValue }
                }
                """,
                declaration(of: "context", type: "ModelContext"),
                declaration(of: "lists", type: "_ModelLists"),
                """
                public \(finalModifier)var persistentBackingData:
                    any SwiftData.BackingData<\(typeName)>
                {
                    get { SwiftData._backingData(of: self) }
                    set { SwiftData._adopt(newValue, by: self) }
                }
                """,
                """
                \(overridable("func")) _$unite() {
                \(keptConstants)}
                """,
            ]
            + initializers(
                isFinal ? "" : "required ", backingDataOf: typeName,
                assignment: "\(storedObject) = _$object")
            + commonMembers(overridable: overridable)
            + keyPaths(inherited: nil, overridable: overridable)
        return members.map(withoutIsolation)
    }

    /// The members of a class whose superclass is a model.
    var membersOfSubclass: [String] {
        let superclass = firstInheritedType ?? typeName
        let members =
            storageDeclarations + [
                "private static let \(firstSlot) = SwiftData._slotCount(of: \(superclass).self)",
                """
                \(overriding("func")) _$unite() {
                    super._$unite()
                    if \(storage) !== _$object {
                        if let level = \(storage) { _$object.unite(with: level) }
                        \(storage) = _$object
                    }
                \(keptConstants)}
                """,
            ]
            + initializers(
                "required ", backingDataOf: "\(typeName).Root",
                assignment: """
                    \(storedObject) = _$object
                        super.init(_$object: _$object)
                    """)
            + commonMembers(overridable: overriding)
            + keyPaths(inherited: superclass, overridable: overriding)
        return members.map(withoutIsolation)
    }

    /// A member of a class that is isolated to a global actor. A context uses its models on its own
    /// thread, so that what it calls is not isolated.
    private func withoutIsolation(_ member: String) -> String {
        globalActor == nil || member.hasPrefix("nonisolated") ? member : "nonisolated \(member)"
    }

    /// Statements that form key paths of the class, which code of its global actor may do only.
    private func inActor(_ statements: String, returning type: String) -> String {
        guard let globalActor else { return statements }
        return """
            let isolated: @\(globalActor) () -> \(type) = {
            \(statements)
            }
            return SwiftData._withoutIsolation(isolated, returning: \(type).self)
            """
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
        let conditional = conditionalProperties.map { property in
            property.inCondition("    keyPaths.append(\\_M.\(property.name))")
        }
        let statements = """
                \(conditional.isEmpty ? "let" : "var") keyPaths: [Swift.AnyKeyPath] =
                    \(inherited)[\(own)]
            \(conditional.map { $0 + "\n" }.joined())    return keyPaths
            """
        members.append(
            """
            public static func _$keyPaths<_M: \(typeName)>(
                of type: _M.Type
            ) -> [Swift.AnyKeyPath] {
            \(inActor(statements, returning: "[Swift.AnyKeyPath]"))
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
        let object = "private \(finalModifier)var \(storage): SwiftData._StoredObject?"
        let box = ModelNames.box(of: typeName)
        let stored =
            globalActor == nil
            ? [object]
            : [
                "private \(finalModifier)let \(box) = SwiftData._ModelStorage()",
                """
                \(object) {
                    get { \(box).object }
                    set { \(box).object = newValue }
                }
                """,
            ]
        return stored + [
            """
            private \(finalModifier)var \(values): SwiftData._StoredObject {
                if let object = \(storage) { return object }
                let object = SwiftData._newObject()
                \(storage) = object
                return object
            }
            """
        ]
    }

    /// The stored property that has the object, which an initializer sets before that of the
    /// superclass.
    private var storedObject: String {
        globalActor == nil ? storage : "\(ModelNames.box(of: typeName)).object"
    }

    /// A property of each instance; that of a model with a global actor is in its box.
    private func declaration(of name: String, type: String) -> String {
        let declaration = "public \(finalModifier)var _$\(name): SwiftData.\(type)?"
        guard globalActor != nil else { return declaration }
        let box = ModelNames.box(of: typeName)
        return """
            \(declaration) {
                get { \(box).\(name) }
                set { \(box).\(name) = newValue }
            }
            """
    }

    private func initializers(
        _ modifier: String, backingDataOf type: String, assignment: String
    ) -> [String] {
        let initializations = allProperties.map { slot, property in
            let statement =
                property.isConstant
                ? constant(property, slot) : "    \(property.storageName) = .init()"
            return statement.map { property.inCondition($0) + "\n" } ?? ""
        }
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

    /// The properties with the expressions of their slots.
    private var allProperties: [(slot: String, property: PropertyDeclaration)] {
        properties.enumerated().map { ("\(typeName).\(firstSlot) + \($0)", $1) }
            + conditionalProperties.map { ("\(typeName).\(ModelNames.slot(of: $0.name))", $0) }
    }

    /// The statement that sets a constant to the value of the object; nil for one that has its
    /// value by its declaration.
    private func constant(_ property: PropertyDeclaration, _ slot: String) -> String? {
        guard property.initialValue == nil else { return nil }
        let function = property.isTransformable ? "transformableConstant" : "constant"
        return """
                self.\(property.name) = _$object.\(function)(in: \(typeName).self, at: \(slot))
            """
    }

    /// The statements that give the values of constants to an object that no context has yet.
    private var keptConstants: String {
        let statements = allProperties.filter(\.property.isConstant).map { slot, property in
            let function = property.isTransformable ? "initializeTransformable" : "initialize"
            return property.inCondition(
                """
                        self._$object.\(function)(
                            at: \(slot), \\\(typeName).\(property.name),
                            to: self.\(property.name))
                """) + "\n"
        }
        if statements.isEmpty { return "" }
        let kept = inActor(statements.joined(), returning: "Swift.Void")
        return "    if _$object.status == .unmanaged {\n\(kept)\n    }\n"
    }

    /// Separate statements, because the type checker's time for an array of many elements grows
    /// faster than their number.
    private func schemaMetadata(_ introducer: String) -> String {
        let elements =
            allProperties.map { $0.property.inCondition(element(of: $0.property)) }
            + constraints.map { constraint in
                constraint.condition.around(
                    element(
                        name: constraint.type, keyPath: "\\SwiftData.Schema.encodingVersion",
                        defaultValue: constraint.uncheckedNames.map { "\($0)" },
                        metadata: constraint.expression))
            }
        let statements = """
                var metadata: [SwiftData.Schema.PropertyMetadata] = []
                metadata.reserveCapacity(\(elements.count))
            \(elements.joined(separator: "\n"))
                return metadata
            """
        return """
            \(introducer) var schemaMetadata: [SwiftData.Schema.PropertyMetadata] {
            \(inActor(statements, returning: "[SwiftData.Schema.PropertyMetadata]"))
            }
            """
    }

    /// The property with its options, or with those of the active clause of an `#if`.
    private func element(of property: PropertyDeclaration) -> String {
        func element(_ metadata: String?) -> String {
            self.element(
                name: property.plainName, keyPath: "\\\(typeName).\(property.name)",
                defaultValue: property.defaultValue, metadata: metadata)
        }
        var text = ""
        for options in property.options {
            guard let condition = options.condition else { return element(options.expression) }
            text += "\(text.isEmpty ? "#if" : "#elseif") \(condition)\n"
            text += "\(element(options.expression))\n"
        }
        return text.isEmpty ? element(nil) : "\(text)#else\n\(element(nil))\n#endif"
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
        let names = allProperties.map(\.property)
            .filter { $0.initialValue?.isConstant == true }
            .map { "\"\($0.plainName)\"" }
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
            "    case \(slot): self._$object.notify(self, \\\(typeName).\(property.name))\n"
        }
        let conditional = conditionalProperties.map { property in
            let slot = "\(typeName).\(ModelNames.slot(of: property.name))"
            return property.inCondition(
                """
                    if slot == \(slot) {
                        self._$object.notify(self, \\\(typeName).\(property.name))
                        return
                    }
                """) + "\n"
        }
        let statements = """
            \(conditional.joined())    switch slot - \(typeName).\(firstSlot) {
            \(cases.joined())    default: \(fallback)
                }
            """
        return """
            \(introducer) _$notify(slot: Swift.Int) {
            \(inActor(statements, returning: "Swift.Void"))
            }
            """
    }
}

extension PropertyDeclaration {
    /// Statements that the compiler uses if the class has the property.
    fileprivate func inCondition(_ statements: String) -> String { condition.around(statements) }
}

extension String? {
    /// Statements that the compiler uses if the condition is true, or in any case without one.
    fileprivate func around(_ statements: String) -> String {
        map { "#if \($0)\n\(statements)\n#endif" } ?? statements
    }
}
