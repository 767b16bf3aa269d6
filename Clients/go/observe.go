package larder

import (
	"context"
	"math"
	"time"

	pb "larder/internal/larderv1"
)

// ObserveOptions says how a query is observed.
type ObserveOptions struct {
	// Interval is the shortest time between two results: the commits in between are one change.
	// 0: one result for each commit that changes the rows.
	Interval time.Duration
	// Section divides the rows into sections, by the values of its expression, for example
	// `author.name`. The rows are sorted by it first. Only for rows that are objects.
	Section SortKey
}

// Live is the result of an observed query, and its next results, as commits of any client change
// it.
//
//	live, err := store.Observe(ctx, query, larder.ObserveOptions{})
//	if err != nil { … }
//	defer live.Close()
//	for live.Next() {
//		show(live.Result().Rows)
//	}
//	err = live.Err()
//
// After a lost connection the query is observed again, and the next result has the difference to
// the last one.
type Live struct {
	follower follower
	rows     liveRows
	result   Result
	err      *Error
	closed   bool
}

// Observe returns the rows of a query, and then each change of them. The query has no offset and
// begins at no row. The first result is that of the query. It ends with the context, by Close, or
// with an error: those of the query, RESOURCE_EXHAUSTED for a result that is too large, UNSUPPORTED
// for a query that cannot be observed.
func (c *Client) Observe(
	ctx context.Context, query Query, options ObserveOptions,
) (*Live, error) {
	isSectioned := options.Section.Expression != ""
	if isSectioned {
		query.sort = appended([]SortKey{options.Section}, query.sort...)
	}
	request, err := query.request()
	if err != nil {
		return nil, err
	}
	request.Credit = followWindow
	milliseconds := options.Interval.Milliseconds()
	if milliseconds < 0 || milliseconds > math.MaxUint32 {
		return nil, newError(CodeUnsupported, "an interval of %v is not possible", options.Interval)
	}
	observe := &pb.ObserveRequest{
		Query: request, IntervalMilliseconds: uint32(milliseconds), Sectioned: isSectioned,
	}
	live := &Live{rows: liveRows{hasObjects: query.changesByObject(), isSectioned: isSectioned}}
	live.follower = follower{client: c, ctx: ctx, request: func() *pb.Envelope {
		return &pb.Envelope{Body: &pb.Envelope_Observe{Observe: observe}}
	}}
	return live, nil
}

// Next waits for the next result. It returns false after Close and after an error; see Err.
func (l *Live) Next() bool {
	for l.err == nil && !l.closed {
		reply, err := l.follower.next()
		if err != nil {
			l.err = err
			return false
		}
		observed := reply.GetObserved()
		isContinued := observed != nil && (!l.follower.isFirst || observed.Begins)
		l.follower.isFirst = false
		if !isContinued {
			l.err = l.follower.refused(otherReply())
			return false
		}
		result, err := l.rows.apply(observed, l.follower.exchange.link.store)
		if err != nil {
			l.err = l.follower.refused(err)
			return false
		}
		if result != nil {
			l.result = *result
			return true
		}
	}
	return false
}

// Result returns the current result.
func (l *Live) Result() Result { return l.result }

// Err returns the error that ended the results; nil after Close.
func (l *Live) Err() error { return public(l.err) }

// Close ends the results. It returns nil. Cancel the context to end a Next that waits.
func (l *Live) Close() error {
	l.closed = true
	l.follower.close()
	return nil
}

// Result is the result of an observed query at one moment, and how it differs from the one before.
type Result struct {
	// Rows has all rows, in the order of the query.
	Rows []Row
	// Inserted has the indexes of the rows that are new, ascending. Like the next three lists, it is
	// only for rows that are objects.
	Inserted []int
	// Deleted has the rows that the query no longer selects.
	Deleted []DeletedRow
	// Updated has the rows with new values or a new version that keep their position among those
	// that stay, and Moved those with another position.
	Updated, Moved []Move
	// Sections has the sections of the rows, in their order; none without ObserveOptions.Section.
	Sections []Section
	// Position is the position in the history to which the result belongs.
	Position Token
}

// DeletedRow is a row that the query no longer selects, and its index in the last result.
type DeletedRow struct {
	Index int
	Row   Row
}

// Section is a part of the rows that have the same value of the section's expression.
type Section struct {
	// Value is that value; nil is one, too.
	Value any
	// Start is the index of the first row of the section, and End that after its last one.
	Start, End int
}

// Move is a row at its indexes in the last result and in this one.
type Move struct{ From, To int }
