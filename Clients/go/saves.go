package larder

import (
	"context"
	"strconv"

	pb "larder/internal/larderv1"
)

// Saved is the result of a change set.
type Saved struct {
	// Inserted has the identifiers of the inserts, in their order; under Upsert also those of
	// objects that were updated instead.
	Inserted []Identifier
	// Upserted has the indexes in Inserted of these objects.
	Upserted []int
	// UpdatedVersions has the new versions of the updates, in their order; 0 for an update that the
	// merge policy skipped because its object is deleted.
	UpdatedVersions []int64
	// DeletedCount is the number of deleted objects, cascades included.
	DeletedCount int64
	// Merged has the indexes in the set of the changes whose conflict the merge policy resolved.
	Merged []int
	// Affected has the objects of each UpdateAll and DeleteAll, in their order.
	Affected []Affected
	// Transaction is the number of the transaction in the history; 0 if nothing was changed.
	Transaction int64
}

// Affected are the objects of a change by predicate.
type Affected struct {
	// Count is their number.
	Count int64
	// Identifiers has the objects in the order of their keys, if ChangeSet.WantAffected is set.
	Identifiers []Identifier
}

// Identifier returns the identifier of an inserted object for the temporary one of
// ChangeSet.Insert; another identifier is returned unchanged.
func (s *Saved) Identifier(temporary Identifier) Identifier {
	index, err := strconv.Atoi(temporary.temporaryName)
	if err != nil || index < 1 || index > len(s.Inserted) {
		return temporary
	}
	return s.Inserted[index-1]
}

// Save applies the changes of a set as one transaction: all or none.
//
// A set with an idempotency key is sent again if its reply was lost. Without one, the error is then
// INDETERMINATE: the set may or may not have been applied. After other errors it was not applied.
// The error is VERSION_CONFLICT or CONDITION_FAILED (ErrConflict) if other clients changed the
// objects, and UNIQUENESS_VIOLATED, VALIDATION_FAILED and others of ErrInvalid for values;
// Error.Violations has all of them.
func (c *Client) Save(ctx context.Context, set *ChangeSet) (*Saved, error) {
	saved, err := c.save(ctx, set)
	return saved, public(err)
}

func (c *Client) save(ctx context.Context, set *ChangeSet) (*Saved, *Error) {
	if set.failure != nil {
		return nil, set.failure
	}
	message := &pb.ChangeSet{
		Changes: set.changes, Conditions: set.conditions, IdempotencyKey: set.IdempotencyKey,
		MergePolicy: pb.MergePolicy(set.MergePolicy), Author: set.Author,
	}
	if message.Author == "" {
		message.Author = c.options.Author
	}
	if set.Upsert {
		message.OnUniqueConflict = pb.UniqueConflictPolicy_UNIQUE_CONFLICT_POLICY_UPSERT
	}
	access := writing
	if set.IdempotencyKey != "" {
		access = writingWithKey
	}
	var saved *Saved
	request := &pb.Envelope{Body: &pb.Envelope_Save{Save: message}}
	err := c.call(ctx, access, request, func(_ *link, reply *pb.Envelope) (err *Error) {
		saved, err = result(reply.GetSaved(), set)
		return err
	})
	return saved, err
}

// result returns the result of a set, if the reply fits to the set.
func result(reply *pb.SaveReply, set *ChangeSet) (*Saved, *Error) {
	if reply == nil || len(reply.Inserted) != set.inserted ||
		len(reply.UpdatedVersions) != set.updated || len(reply.Affected) != set.byQuery {
		return nil, otherReply()
	}
	saved := &Saved{
		UpdatedVersions: reply.UpdatedVersions, DeletedCount: reply.DeletedCount,
		Transaction: reply.Transaction,
	}
	var err *Error
	if saved.Inserted, err = permanents(reply.Inserted); err != nil {
		return nil, err
	}
	if saved.Upserted, err = indexes(reply.Upserted, set.inserted); err != nil {
		return nil, err
	}
	if saved.Merged, err = indexes(reply.Merged, len(set.changes)); err != nil {
		return nil, err
	}
	for _, each := range reply.Affected {
		affected := Affected{Count: each.Count}
		if affected.Identifiers, err = permanents(each.Identifiers); err != nil {
			return nil, err
		}
		saved.Affected = append(saved.Affected, affected)
	}
	return saved, nil
}

// indexes checks indexes of a list.
func indexes(given []uint32, count int) ([]int, *Error) {
	var checked []int
	for _, index := range given {
		if int64(index) >= int64(count) {
			return nil, otherReply()
		}
		checked = append(checked, int(index))
	}
	return checked, nil
}

// Insert inserts an object and returns its identifier. The values are as for ChangeSet.Insert. The
// errors are those of Save.
func (c *Client) Insert(ctx context.Context, entity string, values any) (Identifier, error) {
	set := &ChangeSet{}
	inserted := set.Insert(entity, values)
	saved, err := c.save(ctx, set)
	if err != nil {
		return Identifier{}, err
	}
	return saved.Identifier(inserted), nil
}

// Update sets the properties in the values, as for ChangeSet.Update, and returns the new version of
// the object. The errors are those of Save, and OBJECT_NOT_FOUND.
func (c *Client) Update(
	ctx context.Context, identifier Identifier, values any,
) (version int64, err error) {
	set := &ChangeSet{}
	set.Update(identifier, values)
	saved, failure := c.save(ctx, set)
	if failure != nil {
		return 0, failure
	}
	return saved.UpdatedVersions[0], nil
}

// Delete deletes objects in one transaction, and applies their delete rules. The errors are those
// of Save, OBJECT_NOT_FOUND, and DELETE_DENIED if a delete rule forbids it.
func (c *Client) Delete(ctx context.Context, identifiers ...Identifier) error {
	set := &ChangeSet{}
	for _, identifier := range identifiers {
		set.Delete(identifier)
	}
	_, err := c.save(ctx, set)
	return public(err)
}

// UpdateAll sets properties of all objects that match a query; see ChangeSet.UpdateAll. It returns
// their number.
func (c *Client) UpdateAll(ctx context.Context, query Query, values Values) (int64, error) {
	set := &ChangeSet{}
	set.UpdateAll(query, values)
	return c.affected(ctx, set)
}

// DeleteAll deletes all objects that match a query; see ChangeSet.DeleteAll. It returns their
// number.
func (c *Client) DeleteAll(ctx context.Context, query Query) (int64, error) {
	set := &ChangeSet{}
	set.DeleteAll(query)
	return c.affected(ctx, set)
}

func (c *Client) affected(ctx context.Context, set *ChangeSet) (int64, error) {
	saved, err := c.save(ctx, set)
	if err != nil {
		return 0, err
	}
	return saved.Affected[0].Count, nil
}
