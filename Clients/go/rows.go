package larder

import (
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	pb "larder/v1"
)

// Dates are seconds since 2001-01-01T00:00:00Z.
const epoch = 978_307_200

// Dates beyond this number of seconds do not fit into a time.Time.
const secondsMax = 1 << 53

// UUID is the value of an attribute of that type, and a store's name.
type UUID [16]byte

// Decimal is a decimal number as text.
type Decimal string

// Row is one row of a result.
type Row struct {
	// Identifier and Version are those of the row's object; nil and 0 if the row is not an object.
	Identifier *pb.Identifier
	Version    int64
	// Values has nil, bool, int64, float64, Decimal, string (also for URLs and JSON), time.Time,
	// UUID, []byte, *pb.Identifier or []*pb.Identifier for each column.
	Values map[string]any
}

// URI returns an identifier as it is passed between programs.
func URI(identifier *pb.Identifier) string {
	digits := strings.ToUpper(hex.EncodeToString(identifier.GetStore()))
	if len(digits) == 32 {
		digits = strings.Join([]string{
			digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:],
		}, "-")
	}
	return fmt.Sprintf("x-coredata://%s/%s/p%d", digits, identifier.GetEntity(), identifier.GetKey())
}

// Value converts a value of Go to one of a property.
func Value(given any) (*pb.Value, error) {
	switch given := given.(type) {
	case nil:
		return &pb.Value{Kind: &pb.Value_NullValue{NullValue: true}}, nil
	case bool:
		return &pb.Value{Kind: &pb.Value_BoolValue{BoolValue: given}}, nil
	case int:
		return &pb.Value{Kind: &pb.Value_IntValue{IntValue: int64(given)}}, nil
	case int64:
		return &pb.Value{Kind: &pb.Value_IntValue{IntValue: given}}, nil
	case float64:
		return &pb.Value{Kind: &pb.Value_DoubleValue{DoubleValue: given}}, nil
	case Decimal:
		return &pb.Value{Kind: &pb.Value_DecimalValue{DecimalValue: string(given)}}, nil
	case string:
		return &pb.Value{Kind: &pb.Value_StringValue{StringValue: given}}, nil
	case time.Time:
		seconds := float64(given.Unix()-epoch) + float64(given.Nanosecond())/1e9
		return &pb.Value{Kind: &pb.Value_DateValue{DateValue: seconds}}, nil
	case UUID:
		return &pb.Value{Kind: &pb.Value_UuidValue{UuidValue: given[:]}}, nil
	case []byte:
		return &pb.Value{Kind: &pb.Value_DataValue{DataValue: given}}, nil
	case *pb.Identifier:
		return &pb.Value{Kind: &pb.Value_ObjectValue{ObjectValue: given}}, nil
	case []*pb.Identifier:
		objects := &pb.Identifiers{Items: given}
		return &pb.Value{Kind: &pb.Value_ObjectsValue{ObjectsValue: objects}}, nil
	}
	return nil, fmt.Errorf("a property cannot have a value of type %T", given)
}

// Argument converts the argument of a query; a []any is a list of values.
func Argument(given any) (*pb.Argument, error) {
	items, isList := given.([]any)
	if !isList {
		value, err := Value(given)
		return &pb.Argument{Kind: &pb.Argument_Value{Value: value}}, err
	}
	list := &pb.ValueList{}
	for _, item := range items {
		value, err := Value(item)
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, value)
	}
	return &pb.Argument{Kind: &pb.Argument_List{List: list}}, nil
}

// Rows returns the rows of a batch.
func Rows(batch *pb.Batch, store []byte) ([]Row, error) {
	contradiction := violation("the server sent columns that contradict each other")
	count := int(batch.RowCount)
	if batch.Identity == nil && len(batch.Columns) == 0 && count > 0 {
		return nil, contradiction
	}
	columns := make([]func(int) (any, bool), len(batch.Columns))
	for index, column := range batch.Columns {
		read, isValid := reader(column, count, store)
		if !isValid {
			return nil, contradiction
		}
		columns[index] = read
	}
	var objects []*pb.Identifier
	if identity := batch.Identity; identity != nil {
		var isValid bool
		objects, isValid = identifiers(identity, identity.Keys, store)
		if !isValid || len(objects) != count || len(identity.Versions) != count {
			return nil, contradiction
		}
	}
	rows := make([]Row, count)
	for row := range rows {
		values := make(map[string]any, len(columns))
		for index, column := range batch.Columns {
			value, isValid := columns[index](row)
			if !isValid {
				return nil, contradiction
			}
			values[column.Name] = value
		}
		rows[row].Values = values
		if objects != nil {
			rows[row].Identifier, rows[row].Version = objects[row], batch.Identity.Versions[row]
		}
	}
	return rows, nil
}

// named is an identity, or a column of objects.
type named interface {
	GetEntity() string
	GetSubentities() []string
	GetEntityIndexes() []uint32
}

func identifiers(names named, keys []int64, store []byte) ([]*pb.Identifier, bool) {
	entities := append([]string{names.GetEntity()}, names.GetSubentities()...)
	indexes := names.GetEntityIndexes()
	if len(indexes) > 0 && len(indexes) != len(keys) {
		return nil, false
	}
	found := make([]*pb.Identifier, len(keys))
	for position, key := range keys {
		entity := 0
		if len(indexes) > 0 {
			entity = int(indexes[position])
		}
		if entity >= len(entities) {
			return nil, false
		}
		found[position] = &pb.Identifier{
			Store: store, Entity: entities[entity], Name: &pb.Identifier_Key{Key: key},
		}
	}
	return found, true
}

// reader returns a function that reads the value of a row, if the column's arrays are valid. The
// function returns whether the value is valid.
func reader(column *pb.Column, count int, store []byte) (func(int) (any, bool), bool) {
	read, length := values(column, store)
	if read == nil || length != count {
		return nil, false
	}
	return func(row int) (any, bool) {
		if row/8 < len(column.Nulls) && column.Nulls[row/8]>>(row%8)&1 == 1 {
			return nil, true
		}
		return read(row)
	}, true
}

// values returns a function that reads a value that is not nil, and the number of rows; no function
// if the arrays are not valid.
func values(column *pb.Column, store []byte) (func(int) (any, bool), int) {
	switch column.Type {
	case pb.ColumnType_COLUMN_TYPE_BOOL:
		return func(row int) (any, bool) { return column.Integers[row] != 0, true }, len(column.Integers)
	case pb.ColumnType_COLUMN_TYPE_INT16, pb.ColumnType_COLUMN_TYPE_INT32,
		pb.ColumnType_COLUMN_TYPE_INT64:
		return func(row int) (any, bool) { return column.Integers[row], true }, len(column.Integers)
	case pb.ColumnType_COLUMN_TYPE_FLOAT, pb.ColumnType_COLUMN_TYPE_DOUBLE:
		return func(row int) (any, bool) { return column.Doubles[row], true }, len(column.Doubles)
	case pb.ColumnType_COLUMN_TYPE_DATE:
		return func(row int) (any, bool) { return date(column.Doubles[row]) }, len(column.Doubles)
	case pb.ColumnType_COLUMN_TYPE_OBJECT, pb.ColumnType_COLUMN_TYPE_OBJECTS:
		objects, isValid := identifiers(column, column.Integers, store)
		if !isValid {
			return nil, 0
		}
		if column.Type == pb.ColumnType_COLUMN_TYPE_OBJECT {
			return func(row int) (any, bool) { return objects[row], true }, len(objects)
		}
		return divided(column, len(objects), func(start, end uint32) (any, bool) {
			return objects[start:end], true
		})
	case pb.ColumnType_COLUMN_TYPE_DATA:
		return divided(column, len(column.Heap), func(start, end uint32) (any, bool) {
			return column.Heap[start:end], true
		})
	case pb.ColumnType_COLUMN_TYPE_UUID:
		return divided(column, len(column.Heap), func(start, end uint32) (any, bool) {
			var uuid UUID
			copy(uuid[:], column.Heap[start:end])
			return uuid, end-start == 16
		})
	case pb.ColumnType_COLUMN_TYPE_DECIMAL:
		return divided(column, len(column.Heap), func(start, end uint32) (any, bool) {
			return Decimal(column.Heap[start:end]), true
		})
	case pb.ColumnType_COLUMN_TYPE_STRING, pb.ColumnType_COLUMN_TYPE_URL,
		pb.ColumnType_COLUMN_TYPE_JSON:
		return divided(column, len(column.Heap), func(start, end uint32) (any, bool) {
			text := column.Heap[start:end]
			return string(text), utf8.Valid(text)
		})
	}
	return nil, 0
}

// divided returns a function that reads the part of a row of a heap or list of this length.
func divided(
	column *pb.Column, length int, part func(start, end uint32) (any, bool),
) (func(int) (any, bool), int) {
	start := uint32(0)
	for _, end := range column.Ends {
		if end < start || int64(end) > int64(length) {
			return nil, 0
		}
		start = end
	}
	return func(row int) (any, bool) {
		start := uint32(0)
		if row > 0 {
			start = column.Ends[row-1]
		}
		return part(start, column.Ends[row])
	}, len(column.Ends)
}

func date(seconds float64) (any, bool) {
	if !(math.Abs(seconds) <= secondsMax) {
		return nil, false
	}
	whole := math.Floor(seconds)
	return time.Unix(epoch+int64(whole), int64((seconds-whole)*1e9)).UTC(), true
}
