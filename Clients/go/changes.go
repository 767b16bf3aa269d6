package larder

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sort"

	pb "larder/internal/larderv1"
)

// MergePolicy decides what happens if an object has changed since the client read it.
type MergePolicy int32

// The merge policies; docs/changes.md describes each.
const (
	// MergeError rejects the change set with VERSION_CONFLICT.
	MergeError = MergePolicy(pb.MergePolicy_MERGE_POLICY_ERROR)
	// MergeStoreWins keeps the values of properties that changed in the store.
	MergeStoreWins = MergePolicy(pb.MergePolicy_MERGE_POLICY_STORE_WINS)
	// MergeCallerWins sets the values of the change.
	MergeCallerWins = MergePolicy(pb.MergePolicy_MERGE_POLICY_CALLER_WINS)
	// MergeOverwrite sets the base values of the change, and then its values.
	MergeOverwrite = MergePolicy(pb.MergePolicy_MERGE_POLICY_OVERWRITE)
	// MergeRollback does not apply the change.
	MergeRollback = MergePolicy(pb.MergePolicy_MERGE_POLICY_ROLLBACK)
)

// ChangeSet is a list of changes that Client.Save applies as one transaction: all or none. The zero
// value is an empty set. One goroutine at a time may use it.
type ChangeSet struct {
	// Author is recorded in the history; empty: Options.Author.
	Author string
	// IdempotencyKey makes the set safe to send again: it is applied once, and later saves of the
	// same set return the first result. Use a new key for each set, such as one of NewKey. Empty:
	// no key.
	IdempotencyKey string
	// Upsert updates the object that already has the unique values of an insert.
	Upsert bool
	// MergePolicy is that of updates and deletes with a version or with base values.
	MergePolicy MergePolicy
	// WantAffected is whether later changes by predicate put the identifiers of their objects into
	// Saved.Affected; at most 65,536.
	WantAffected bool

	changes    []*pb.Change
	conditions []*pb.Condition
	inserted   int
	updated    int
	byQuery    int
	// The first error in an argument.
	failure *Error
}

// NewKey returns a new random idempotency key.
func NewKey() string {
	key := make([]byte, 16)
	if _, err := rand.Read(key); err != nil {
		panic(fmt.Sprintf("the system has no random numbers: %v", err))
	}
	return hex.EncodeToString(key)
}

// Insert adds an insert of an object, and returns its temporary identifier: the value of
// relationships of the same set, and the argument of Saved.Identifier. The values are Values, or a
// struct; see Row.ScanStruct for its tags. Of a struct, fields with the tags `@id`, `@version` or
// the option `readonly` are no values, nor are slices of identifiers that are nil. Other properties
// get their defaults.
func (s *ChangeSet) Insert(entity string, values any) Identifier {
	s.inserted++
	identifier := Identifier{Entity: entity, temporaryName: fmt.Sprint(s.inserted)}
	change := &pb.Change{Kind: pb.ChangeKind_CHANGE_KIND_INSERT, Object: identifier.message()}
	change.Values = s.properties(values)
	s.changes = append(s.changes, change)
	return identifier
}

// Update adds an update of an object: of the properties in the values, which are as for Insert.
func (s *ChangeSet) Update(identifier Identifier, values any) *Change {
	s.updated++
	change := &pb.Change{Kind: pb.ChangeKind_CHANGE_KIND_UPDATE, Object: identifier.message()}
	change.Values = s.properties(values)
	s.changes = append(s.changes, change)
	return &Change{s, change}
}

// Delete adds a delete of an object.
func (s *ChangeSet) Delete(identifier Identifier) *Change {
	change := &pb.Change{Kind: pb.ChangeKind_CHANGE_KIND_DELETE, Object: identifier.message()}
	s.changes = append(s.changes, change)
	return &Change{s, change}
}

// UpdateAll adds an update of all objects that match the predicate of a query: the first ones in
// its order, if it has a limit. A value may be an Expression over the object as it was before.
func (s *ChangeSet) UpdateAll(query Query, values Values) {
	kind := pb.ChangeKind_CHANGE_KIND_UPDATE_ALL
	if query.limit != nil {
		kind = pb.ChangeKind_CHANGE_KIND_UPDATE_FIRST
	}
	s.addByQuery(kind, query, values)
}

// DeleteAll adds a delete of all objects that match the predicate of a query: the first ones in its
// order, if it has a limit.
func (s *ChangeSet) DeleteAll(query Query) {
	kind := pb.ChangeKind_CHANGE_KIND_DELETE_ALL
	if query.limit != nil {
		kind = pb.ChangeKind_CHANGE_KIND_DELETE_FIRST
	}
	s.addByQuery(kind, query, nil)
}

// Require adds a condition: before the first change, exactly this number of objects has to match
// the predicate of a query. Otherwise the error of the set is CONDITION_FAILED.
func (s *ChangeSet) Require(query Query, count int64) {
	objects := s.objects(query, nil)
	s.conditions = append(s.conditions, &pb.Condition{Objects: objects, Count: count})
}

// Expression is a value of UpdateAll that the store computes for each object: `wordCount * 2`.
type Expression struct {
	// Format is the expression. `%@` stands for the next argument.
	Format    string
	Arguments []any
}

func (s *ChangeSet) addByQuery(kind pb.ChangeKind, query Query, values Values) {
	s.byQuery++
	objects := s.objects(query, values)
	objects.IdentifiersWanted = s.WantAffected
	s.changes = append(s.changes, &pb.Change{Kind: kind, ByPredicate: objects})
}

// objects returns the objects of a query, and the assignments of values to them.
func (s *ChangeSet) objects(query Query, values Values) *pb.ObjectsChange {
	if query.isAggregate() || query.isDistinct || query.offset != nil ||
		len(query.columns)+len(query.after) > 0 {
		s.fail(newError(CodeUnsupported,
			"the objects of a change are selected by a predicate, an order and a limit"))
	}
	f := &formed{}
	objects := &pb.ObjectsChange{
		Entity: query.entity, Predicate: f.term(query.predicate), AssumesUtc: query.assumesUTC,
		ExcludeSubentities: query.isOwnOnly,
	}
	objects.Sort = f.sortKeys(query.sort)
	for _, name := range sortedNames(values) {
		assigned := phrase{"%@", []any{values[name]}}
		if expression, isExpression := values[name].(Expression); isExpression {
			assigned = phrase{expression.Format, expression.Arguments}
		}
		objects.Assignments = append(
			objects.Assignments, &pb.NamedTerm{Name: name, Term: f.term(assigned)})
	}
	if query.limit != nil {
		objects.LimitPresence = &pb.ObjectsChange_Limit{Limit: *query.limit}
	}
	var err *Error
	if objects.Arguments, err = arguments(f.arguments); err != nil {
		s.fail(err)
	}
	if objects.Variables, err = query.variableArguments(); err != nil {
		s.fail(err)
	}
	return objects
}

// fail stores the first error of the set.
func (s *ChangeSet) fail(err *Error) {
	if s.failure == nil {
		s.failure = err
	}
}

// properties returns values by name, so that equal sets have equal bytes.
func (s *ChangeSet) properties(given any) []*pb.PropertyValue {
	values, err := written(given)
	if err != nil {
		s.fail(err)
	}
	var listed []*pb.PropertyValue
	for _, name := range sortedNames(values) {
		value, err := value(values[name])
		if err != nil {
			s.fail(newError(err.Code, "%s: %s", name, err.Message))
		}
		listed = append(listed, &pb.PropertyValue{Name: name, Value: value})
	}
	return listed
}

func sortedNames(values Values) []string {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Change is an update or a delete of a change set.
type Change struct {
	set    *ChangeSet
	change *pb.Change
}

// IfVersion states the version of the object that the client has read. If the object has another
// one, the merge policy of the set decides.
func (c *Change) IfVersion(version int64) *Change {
	c.change.IfVersionPresence = &pb.Change_IfVersion{IfVersion: version}
	return c
}

// Base states the values that the client has read. If the object has other ones, the merge policy
// of the set decides.
func (c *Change) Base(values any) *Change {
	c.change.BaseValues = c.set.properties(values)
	return c
}

// Add adds objects at the end of a to-many relationship. Those that are in it stay where they are.
func (c *Change) Add(relationship string, objects ...Identifier) *Change {
	return c.edit(pb.RelationshipEditKind_RELATIONSHIP_EDIT_KIND_ADD, relationship, objects)
}

// AddAt adds objects to an ordered relationship at an index among its other objects, from 0.
func (c *Change) AddAt(relationship string, index int64, objects ...Identifier) *Change {
	c.Add(relationship, objects...)
	return c.at(index)
}

// Move moves objects of an ordered relationship to an index among its other objects, from 0.
func (c *Change) Move(relationship string, index int64, objects ...Identifier) *Change {
	c.edit(pb.RelationshipEditKind_RELATIONSHIP_EDIT_KIND_MOVE, relationship, objects)
	return c.at(index)
}

// Remove removes objects from a to-many relationship. Those that are not in it are ignored.
func (c *Change) Remove(relationship string, objects ...Identifier) *Change {
	return c.edit(pb.RelationshipEditKind_RELATIONSHIP_EDIT_KIND_REMOVE, relationship, objects)
}

func (c *Change) edit(
	kind pb.RelationshipEditKind, relationship string, objects []Identifier,
) *Change {
	c.change.Edits = append(c.change.Edits, &pb.RelationshipEdit{
		Name: relationship, Kind: kind, Objects: messages(objects),
	})
	return c
}

// at sets the position of the last edit.
func (c *Change) at(index int64) *Change {
	last := c.change.Edits[len(c.change.Edits)-1]
	last.Position = &pb.RelationshipEdit_Index{Index: index}
	return c
}
