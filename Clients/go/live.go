package larder

import (
	"reflect"

	pb "larder/internal/larderv1"

	"google.golang.org/protobuf/proto"
)

const (
	// A whole result is at most as long as the longest frame, and its replies repeat some names.
	wholeBytesMax = 2 * replyBytesMax
	// Each row of a result has at least a key.
	liveRowsMax = replyBytesMax / 8
)

// liveRows has the rows of an observed query, and applies the replies of the server.
type liveRows struct {
	// Whether the rows are objects, so that the server sends changes.
	hasObjects  bool
	isSectioned bool
	rows        []liveRow
	// The part of a whole result that has been received.
	incoming      []liveRow
	incomingBytes int
	isIncoming    bool
	hasResult     bool
}

// liveRow is a row and the value of its section.
type liveRow struct {
	Row
	section any
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
	received, err := l.received(reply, store)
	if err != nil {
		return nil, err
	}
	l.incoming = append(l.incoming, received...)
	if !reply.Ends {
		return nil, nil
	}
	result := l.difference(l.incoming)
	l.rows, l.incoming, l.isIncoming, l.hasResult = l.incoming, nil, false, true
	l.complete(result, at)
	return result, nil
}

// received returns the rows of a reply with their sections.
func (l *liveRows) received(reply *pb.ObserveReply, store UUID) ([]liveRow, *Error) {
	var rows, sections []Row
	var err *Error
	for _, batch := range reply.Rows {
		if rows, err = appendRows(rows, batch, store); err != nil {
			return nil, err
		}
	}
	if l.isSectioned {
		if sections, err = appendRows(nil, reply.Sections, store); err != nil {
			return nil, err
		}
	}
	if l.isSectioned && len(sections) != len(rows) {
		return nil, inconsistent()
	}
	received := make([]liveRow, len(rows))
	for index, row := range rows {
		received[index].Row = row
		if l.isSectioned && len(sections[index].values) != 1 {
			return nil, inconsistent()
		}
		if l.isSectioned {
			received[index].section = sections[index].values[0]
		}
	}
	return received, nil
}

// complete adds the rows, their sections and their position to a result.
func (l *liveRows) complete(result *Result, at Token) {
	result.Position = at
	result.Rows = make([]Row, len(l.rows))
	for index, row := range l.rows {
		result.Rows[index] = row.Row
		if !l.isSectioned {
			continue
		}
		if last := len(result.Sections) - 1; last >= 0 &&
			reflect.DeepEqual(result.Sections[last].Value, row.section) {
			result.Sections[last].End = index + 1
		} else {
			section := Section{Value: row.section, Start: index, End: index + 1}
			result.Sections = append(result.Sections, section)
		}
	}
}

func inconsistent() *Error {
	return violation("a change of an observed result does not fit to the result")
}

// change applies a change of single rows.
func (l *liveRows) change(reply *pb.ObserveReply, at Token, store UUID) (*Result, *Error) {
	placed, err := l.received(reply, store)
	if err != nil {
		return nil, err
	}
	isFitting := l.hasResult && l.hasObjects && len(reply.NewIndexes) == len(placed) &&
		len(reply.OldIndexes) == len(placed) && len(reply.Moved) == len(placed)
	if !isFitting {
		return nil, inconsistent()
	}
	result := &Result{}
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
		result.Deleted = append(result.Deleted, DeletedRow{int(index), l.rows[index].Row})
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
	if l.rows, err = placing(placed, reply.NewIndexes, l.rows, removed); err != nil {
		return nil, err
	}
	l.complete(result, at)
	return result, nil
}

// placing returns the rows without some, and with others at ascending indexes.
func placing(
	placed []liveRow, indexes []uint32, rows []liveRow, removed map[int]bool,
) ([]liveRow, *Error) {
	count := len(rows) - len(removed) + len(placed)
	if count > liveRowsMax {
		return nil, violation("the server sent a result that is too long")
	}
	result := make([]liveRow, 0, count)
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
func (l *liveRows) difference(whole []liveRow) *Result {
	result := &Result{}
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
			before := l.rows[oldIndex]
			if !before.equals(row.Row) || !reflect.DeepEqual(before.section, row.section) {
				result.Updated = append(result.Updated, Move{oldIndex, index})
			}
		}
	}
	for index, row := range l.rows {
		if !stays[row.Identifier] {
			result.Deleted = append(result.Deleted, DeletedRow{index, row.Row})
		}
	}
	return result
}
