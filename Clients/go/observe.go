package larder

import (
	"context"
	"math"
	"time"

	pb "larder/internal/larderv1"

	"google.golang.org/protobuf/proto"
)

const (
	// A whole result is at most as long as the longest frame, and its replies repeat some names.
	wholeBytesMax = 2 * replyBytesMax
	// Each row of a result has at least a key.
	liveRowsMax = replyBytesMax / 8
)

// ObserveOptions says how a query is observed.
type ObserveOptions struct {
	// Interval is the shortest time between two results: the commits in between are one change.
	// 0: one result for each commit that changes the rows.
	Interval time.Duration
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
	request, err := query.request()
	if err != nil {
		return nil, err
	}
	request.Credit = followWindow
	milliseconds := options.Interval.Milliseconds()
	if milliseconds < 0 || milliseconds > math.MaxUint32 {
		return nil, newError(CodeUnsupported, "an interval of %v is not possible", options.Interval)
	}
	observe := &pb.ObserveRequest{Query: request, IntervalMilliseconds: uint32(milliseconds)}
	live := &Live{rows: liveRows{hasObjects: query.changesByObject()}}
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
	// Position is the position in the history to which the result belongs.
	Position Token
}

// DeletedRow is a row that the query no longer selects, and its index in the last result.
type DeletedRow struct {
	Index int
	Row   Row
}

// Move is a row at its indexes in the last result and in this one.
type Move struct{ From, To int }

// liveRows has the rows of an observed query, and applies the replies of the server.
type liveRows struct {
	// Whether the rows are objects, so that the server sends changes.
	hasObjects bool
	rows       []Row
	// The part of a whole result that has been received.
	incoming      []Row
	incomingBytes int
	isIncoming    bool
	hasResult     bool
}

// apply returns the result, unless more of it follows.
func (l *liveRows) apply(reply *pb.ObserveReply, store UUID) (*Result, *Error) {
	if len(reply.Rows) > 1 {
		return nil, inconsistent()
	}
	at, err := position(reply.Position)
	if err != nil {
		return nil, err
	}
	if reply.Begins {
		l.incoming, l.incomingBytes, l.isIncoming = nil, 0, true
	}
	if !l.isIncoming {
		return l.change(reply, at, store)
	}
	l.incomingBytes += proto.Size(reply)
	if l.incomingBytes > wholeBytesMax {
		return nil, violation("the server sent a result that is too long")
	}
	for _, batch := range reply.Rows {
		if l.incoming, err = appendRows(l.incoming, batch, store); err != nil {
			return nil, err
		}
	}
	if !reply.Ends {
		return nil, nil
	}
	result := l.difference(l.incoming)
	result.Position = at
	l.rows, l.incoming, l.isIncoming, l.hasResult = l.incoming, nil, false, true
	return result, nil
}

func inconsistent() *Error {
	return violation("a change of an observed result does not fit to the result")
}

// change applies a change of single rows.
func (l *liveRows) change(reply *pb.ObserveReply, at Token, store UUID) (*Result, *Error) {
	var placed []Row
	var err *Error
	for _, batch := range reply.Rows {
		if placed, err = appendRows(nil, batch, store); err != nil {
			return nil, err
		}
	}
	isFitting := l.hasResult && l.hasObjects && len(reply.NewIndexes) == len(placed) &&
		len(reply.OldIndexes) == len(placed) && len(reply.Moved) == len(placed)
	if !isFitting {
		return nil, inconsistent()
	}
	result := &Result{Position: at}
	removed := make(map[int]bool, len(reply.Deleted)+len(placed))
	remove := func(index int64) bool {
		isValid := index >= 0 && index < int64(len(l.rows)) && !removed[int(index)]
		removed[int(index)] = true
		return isValid
	}
	for _, index := range reply.Deleted {
		if !remove(int64(index)) {
			return nil, inconsistent()
		}
		result.Deleted = append(result.Deleted, DeletedRow{int(index), l.rows[index]})
	}
	for position, oldIndex := range reply.OldIndexes {
		move := Move{int(oldIndex) - 1, int(reply.NewIndexes[position])}
		if oldIndex == 0 {
			result.Inserted = append(result.Inserted, move.To)
			continue
		}
		if !remove(int64(move.From)) {
			return nil, inconsistent()
		}
		if reply.Moved[position] {
			result.Moved = append(result.Moved, move)
		} else {
			result.Updated = append(result.Updated, move)
		}
	}
	if result.Rows, err = placing(placed, reply.NewIndexes, l.rows, removed); err != nil {
		return nil, err
	}
	l.rows = result.Rows
	return result, nil
}

// placing returns the rows without some, and with others at ascending indexes.
func placing(
	placed []Row, indexes []uint32, rows []Row, removed map[int]bool,
) ([]Row, *Error) {
	count := len(rows) - len(removed) + len(placed)
	if count > liveRowsMax {
		return nil, violation("the server sent a result that is too long")
	}
	result := make([]Row, 0, count)
	next := 0
	for position, row := range rows {
		if removed[position] {
			continue
		}
		for next < len(placed) && int64(indexes[next]) == int64(len(result)) {
			result = append(result, placed[next])
			next++
		}
		result = append(result, row)
	}
	for next < len(placed) && int64(indexes[next]) == int64(len(result)) {
		result = append(result, placed[next])
		next++
	}
	if next < len(placed) {
		return nil, inconsistent()
	}
	return result, nil
}

// difference returns a whole result, and how it differs from the rows.
func (l *liveRows) difference(whole []Row) *Result {
	result := &Result{Rows: whole}
	if !l.hasObjects {
		return result
	}
	old := make(map[Identifier]int, len(l.rows))
	for index, row := range l.rows {
		old[row.Identifier] = index
	}
	stays := make(map[Identifier]bool, len(whole))
	// Rows whose old indexes ascend keep their positions.
	last := -1
	for index, row := range whole {
		stays[row.Identifier] = true
		oldIndex, exists := old[row.Identifier]
		switch {
		case !exists:
			result.Inserted = append(result.Inserted, index)
		case oldIndex < last:
			result.Moved = append(result.Moved, Move{oldIndex, index})
		default:
			last = oldIndex
			if !l.rows[oldIndex].equals(row) {
				result.Updated = append(result.Updated, Move{oldIndex, index})
			}
		}
	}
	for index, row := range l.rows {
		if !stays[row.Identifier] {
			result.Deleted = append(result.Deleted, DeletedRow{index, row})
		}
	}
	return result
}
