package larder

import (
	"encoding/json"
	"unicode/utf8"

	pb "larder/internal/larderv1"
)

// batch is a checked batch of rows as columns. Its rows are made one by one.
type batch struct {
	count    int
	names    *names
	columns  []column
	objects  *objects
	versions []int64
}

// names has the names of the columns of a result.
type names struct {
	list    []string
	indexes map[string]int
}

func newNames(list []string) *names {
	n := &names{list: list, indexes: make(map[string]int, len(list))}
	for index, name := range list {
		n.indexes[name] = index
	}
	return n
}

// column reads the value of a row. It returns whether the value is valid.
type column func(row int) (any, bool)

// objects has the identifiers of rows, or of the values of a column.
type objects struct {
	store    UUID
	entities []string
	// Indexes of entities; empty if all are of the first one.
	indexes []uint32
	keys    []int64
}

// check returns a batch whose arrays fit to each other.
func check(message *pb.Batch, store UUID) (*batch, *Error) {
	b := &batch{count: int(message.RowCount), columns: make([]column, len(message.Columns))}
	if message.Identity == nil && len(message.Columns) == 0 && b.count > 0 {
		return nil, contradiction()
	}
	list := make([]string, len(message.Columns))
	for index, each := range message.Columns {
		read, isValid := reader(each, b.count, store)
		if !isValid {
			return nil, contradiction()
		}
		b.columns[index], list[index] = read, each.Name
	}
	b.names = newNames(list)
	if identity := message.Identity; identity != nil {
		var isValid bool
		b.objects, isValid = newObjects(identity, identity.Keys, store)
		if !isValid || len(identity.Keys) != b.count || len(identity.Versions) != b.count {
			return nil, contradiction()
		}
		b.versions = identity.Versions
	}
	return b, nil
}

// row returns the row at an index.
func (b *batch) row(index int) (Row, *Error) {
	row := Row{names: b.names, values: make([]any, len(b.columns))}
	for position, read := range b.columns {
		value, isValid := read(index)
		if !isValid {
			return Row{}, contradiction()
		}
		row.values[position] = value
	}
	if b.objects != nil {
		identifier, isValid := b.objects.at(index)
		if !isValid {
			return Row{}, contradiction()
		}
		row.Identifier, row.Version = identifier, b.versions[index]
	}
	return row, nil
}

// appendRows appends all rows of a batch of a message; of none if there is no batch.
func appendRows(rows []Row, message *pb.Batch, store UUID) ([]Row, *Error) {
	if message == nil {
		return rows, nil
	}
	batch, err := check(message, store)
	if err != nil {
		return nil, err
	}
	for index := 0; index < batch.count; index++ {
		row, err := batch.row(index)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// entities is an identity, or a column of objects.
type entities interface {
	GetEntity() string
	GetSubentities() []string
	GetEntityIndexes() []uint32
}

func newObjects(of entities, keys []int64, store UUID) (*objects, bool) {
	o := &objects{
		store: store, entities: append([]string{of.GetEntity()}, of.GetSubentities()...),
		indexes: of.GetEntityIndexes(), keys: keys,
	}
	if len(o.indexes) > 0 && len(o.indexes) != len(keys) {
		return nil, false
	}
	for _, index := range o.indexes {
		if int64(index) >= int64(len(o.entities)) {
			return nil, false
		}
	}
	return o, true
}

// at returns an identifier, and whether it is valid.
func (o *objects) at(index int) (Identifier, bool) {
	entity := o.entities[0]
	if len(o.indexes) > 0 {
		entity = o.entities[o.indexes[index]]
	}
	return Identifier{Store: o.store, Entity: entity, Key: o.keys[index]}, o.keys[index] > 0
}

func (o *objects) between(start, end uint32) (any, bool) {
	list := make([]Identifier, 0, end-start)
	for index := start; index < end; index++ {
		identifier, isValid := o.at(int(index))
		if !isValid {
			return nil, false
		}
		list = append(list, identifier)
	}
	return list, true
}

// reader returns a function that reads the value of a row, if the column's arrays are valid.
func reader(of *pb.Column, count int, store UUID) (column, bool) {
	read, length := values(of, store)
	if read == nil || length != count {
		return nil, false
	}
	nulls := of.Nulls
	return func(row int) (any, bool) {
		if row/8 < len(nulls) && nulls[row/8]>>(row%8)&1 == 1 {
			return nil, true
		}
		return read(row)
	}, true
}

// values returns a function that reads a value that is not nil, and the number of rows; no function
// if the arrays are not valid.
func values(of *pb.Column, store UUID) (column, int) {
	integers, doubles := of.Integers, of.Doubles
	switch of.Type {
	case pb.ColumnType_COLUMN_TYPE_BOOL:
		return func(row int) (any, bool) {
			return integers[row] == 1, integers[row] == 0 || integers[row] == 1
		}, len(integers)
	case pb.ColumnType_COLUMN_TYPE_INT16, pb.ColumnType_COLUMN_TYPE_INT32,
		pb.ColumnType_COLUMN_TYPE_INT64:
		return func(row int) (any, bool) { return integers[row], true }, len(integers)
	case pb.ColumnType_COLUMN_TYPE_FLOAT, pb.ColumnType_COLUMN_TYPE_DOUBLE:
		return func(row int) (any, bool) { return doubles[row], true }, len(doubles)
	case pb.ColumnType_COLUMN_TYPE_DATE:
		return func(row int) (any, bool) { return date(doubles[row]) }, len(doubles)
	case pb.ColumnType_COLUMN_TYPE_OBJECT, pb.ColumnType_COLUMN_TYPE_OBJECTS:
		objects, isValid := newObjects(of, integers, store)
		if !isValid {
			return nil, 0
		}
		if of.Type == pb.ColumnType_COLUMN_TYPE_OBJECT {
			return func(row int) (any, bool) { return objects.at(row) }, len(integers)
		}
		return divided(of, len(integers), objects.between)
	}
	return divided(of, len(of.Heap), parts(of))
}

// parts returns a function that reads the part of a heap, or nil for an unknown type.
func parts(of *pb.Column) func(start, end uint32) (any, bool) {
	heap := of.Heap
	text := func(convert func(string) any) func(start, end uint32) (any, bool) {
		return func(start, end uint32) (any, bool) {
			return convert(string(heap[start:end])), utf8.Valid(heap[start:end])
		}
	}
	switch of.Type {
	case pb.ColumnType_COLUMN_TYPE_DATA:
		return func(start, end uint32) (any, bool) {
			return append([]byte{}, heap[start:end]...), true
		}
	case pb.ColumnType_COLUMN_TYPE_UUID:
		return func(start, end uint32) (any, bool) {
			var uuid UUID
			copy(uuid[:], heap[start:end])
			return uuid, int(end-start) == len(uuid)
		}
	case pb.ColumnType_COLUMN_TYPE_DECIMAL:
		return text(func(text string) any { return Decimal(text) })
	case pb.ColumnType_COLUMN_TYPE_STRING:
		return text(func(text string) any { return text })
	case pb.ColumnType_COLUMN_TYPE_URL:
		return text(func(text string) any { return URL(text) })
	case pb.ColumnType_COLUMN_TYPE_JSON:
		return text(func(text string) any { return json.RawMessage(text) })
	}
	return nil
}

// divided returns a function that reads the part of a row of a heap or list of this length; none if
// the ends are not valid.
func divided(
	of *pb.Column, length int, part func(start, end uint32) (any, bool),
) (column, int) {
	ends := of.Ends
	start := uint32(0)
	for _, end := range ends {
		if end < start || int64(end) > int64(length) {
			return nil, 0
		}
		start = end
	}
	if part == nil {
		return nil, 0
	}
	return func(row int) (any, bool) {
		start := uint32(0)
		if row > 0 {
			start = ends[row-1]
		}
		return part(start, ends[row])
	}, len(ends)
}
