@_exported public import Foundation

@_exported public import class CoreDataPredicates.NSComparisonPredicate
@_exported public import class CoreDataPredicates.NSCompoundPredicate
@_exported public import class CoreDataPredicates.NSExpression
@_exported public import class CoreDataPredicates.NSPredicate
@_exported public import class CoreDataPredicates.NSSortDescriptor
@_exported public import class LarderObjects.UndoManager

// Foundation has classes with the names of those of predicates, without what they need. Only a
// class that is imported by its name comes before Foundation's, so they are a module of their own.
