public import SwiftData

extension ModelContext {
    /// The values of the models that match, now and after each change, as an asynchronous sequence.
    /// It is used on the actor of the context, and includes pending changes if the descriptor does.
    ///
    ///     for try await titles in context.observe(FetchDescriptor<Article>(), as: \.title) {
    ///         show(titles.values)
    ///     }
    ///
    /// A value along a relationship changes with the related model if the context follows changes
    /// of others (`followsChanges`). A model gets its permanent identifier when it is saved: it is
    /// one that is deleted and one that is inserted then.
    ///
    /// - Parameter convert: The value of a model; nil leaves the model out.
    public func observe<Model: PersistentModel, Value: Equatable & Sendable>(
        _ descriptor: FetchDescriptor<Model>, as convert: @escaping (Model) -> Value?
    ) -> LiveFetch<Model, Value> {
        LiveFetch(context: self, descriptor: descriptor, convert: convert)
    }

    /// The form with the value to which the model class converts.
    public func observe<Model: PersistentModel & ConvertibleValueObservableObject>(
        _ descriptor: FetchDescriptor<Model>
    ) -> LiveFetch<Model, Model.Value> {
        observe(descriptor) { $0.convertToValueType() }
    }
}

extension ModelContainer {
    /// The values of the saved models that match, now and after each commit, as an asynchronous
    /// sequence with a context of its own, which follows changes of others. It is used on the actor
    /// that has made it.
    ///
    /// - Parameter convert: The value of a model; nil leaves the model out.
    public func observe<Model: PersistentModel, Value: Equatable & Sendable>(
        _ descriptor: FetchDescriptor<Model>, as convert: @escaping (Model) -> Value?
    ) -> LiveFetch<Model, Value> {
        let context = ModelContext(self)
        context.followsChanges = true
        return context.observe(descriptor, as: convert)
    }

    /// The form with the value to which the model class converts.
    public func observe<Model: PersistentModel & ConvertibleValueObservableObject>(
        _ descriptor: FetchDescriptor<Model>
    ) -> LiveFetch<Model, Model.Value> {
        observe(descriptor) { $0.convertToValueType() }
    }
}
