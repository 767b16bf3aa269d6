package larder

import (
	"math"

	pb "larder/internal/larderv1"
)

// columnBuilder collects the values of one property of new objects.
type columnBuilder struct {
	column *pb.Column
	// The indexes of the entities of objects; of the column's own entity is 0.
	entities map[string]uint32
	store    UUID
	count    int
	// An estimate of the encoded length.
	bytes int
}

func newColumn(of property, store UUID) *columnBuilder {
	return &columnBuilder{
		column:   &pb.Column{Name: of.name, Type: of.columnType, Entity: of.destination},
		entities: map[string]uint32{of.destination: 0}, store: store,
	}
}

// append adds the value of a row.
func (b *columnBuilder) append(given any) *Error {
	value, err := value(given)
	if err != nil {
		return err
	}
	row := b.count
	b.count++
	if _, isNil := value.Kind.(*pb.Value_NullValue); isNil {
		for len(b.column.Nulls) <= row/8 {
			b.column.Nulls = append(b.column.Nulls, 0)
		}
		b.column.Nulls[row/8] |= 1 << (row % 8)
		return b.appendNil()
	}
	isValid := false
	switch b.column.Type {
	case pb.ColumnType_COLUMN_TYPE_BOOL, pb.ColumnType_COLUMN_TYPE_INT16,
		pb.ColumnType_COLUMN_TYPE_INT32, pb.ColumnType_COLUMN_TYPE_INT64:
		isValid = b.appendInteger(value)
	case pb.ColumnType_COLUMN_TYPE_FLOAT, pb.ColumnType_COLUMN_TYPE_DOUBLE,
		pb.ColumnType_COLUMN_TYPE_DATE:
		isValid = b.appendDouble(value)
	case pb.ColumnType_COLUMN_TYPE_OBJECT, pb.ColumnType_COLUMN_TYPE_OBJECTS:
		return b.appendObjects(given, value)
	default:
		isValid = b.appendBytes(value)
	}
	if !isValid {
		return b.wrongType(given)
	}
	return nil
}

func (b *columnBuilder) wrongType(given any) *Error {
	return newError(CodeWrongType, "%s cannot have %s", b.column.Name, describe(given))
}

func (b *columnBuilder) appendNil() *Error {
	switch b.column.Type {
	case pb.ColumnType_COLUMN_TYPE_BOOL, pb.ColumnType_COLUMN_TYPE_INT16,
		pb.ColumnType_COLUMN_TYPE_INT32, pb.ColumnType_COLUMN_TYPE_INT64,
		pb.ColumnType_COLUMN_TYPE_OBJECT:
		b.number(0)
		if len(b.column.EntityIndexes) > 0 {
			b.column.EntityIndexes = append(b.column.EntityIndexes, 0)
		}
	case pb.ColumnType_COLUMN_TYPE_FLOAT, pb.ColumnType_COLUMN_TYPE_DOUBLE,
		pb.ColumnType_COLUMN_TYPE_DATE:
		b.column.Doubles = append(b.column.Doubles, 0)
		b.bytes += 8
	case pb.ColumnType_COLUMN_TYPE_OBJECTS:
		b.end(len(b.column.Integers))
	default:
		b.end(len(b.column.Heap))
	}
	return nil
}

func (b *columnBuilder) number(value int64) {
	b.column.Integers = append(b.column.Integers, value)
	b.bytes += 8
}

func (b *columnBuilder) end(offset int) {
	// A batch is sent long before its heap has 4 GiB.
	b.column.Ends = append(b.column.Ends, uint32(offset))
	b.bytes += 4
}

func (b *columnBuilder) appendInteger(value *pb.Value) bool {
	isBool := b.column.Type == pb.ColumnType_COLUMN_TYPE_BOOL
	switch kind := value.Kind.(type) {
	case *pb.Value_BoolValue:
		number := int64(0)
		if kind.BoolValue {
			number = 1
		}
		b.number(number)
		return isBool
	case *pb.Value_IntValue:
		b.number(kind.IntValue)
		return !isBool
	}
	return false
}

func (b *columnBuilder) appendDouble(value *pb.Value) bool {
	isDate := b.column.Type == pb.ColumnType_COLUMN_TYPE_DATE
	number := math.NaN()
	switch kind := value.Kind.(type) {
	case *pb.Value_DateValue:
		if !isDate {
			return false
		}
		b.column.Doubles = append(b.column.Doubles, kind.DateValue)
		b.bytes += 8
		return true
	case *pb.Value_DoubleValue:
		number = kind.DoubleValue
	case *pb.Value_FloatValue:
		number = float64(kind.FloatValue)
	case *pb.Value_IntValue:
		number = float64(kind.IntValue)
	default:
		return false
	}
	b.column.Doubles = append(b.column.Doubles, number)
	b.bytes += 8
	return !isDate
}

func (b *columnBuilder) appendBytes(value *pb.Value) bool {
	var part []byte
	found := pb.ColumnType_COLUMN_TYPE_UNSPECIFIED
	switch kind := value.Kind.(type) {
	case *pb.Value_DecimalValue:
		part, found = []byte(kind.DecimalValue), pb.ColumnType_COLUMN_TYPE_DECIMAL
	case *pb.Value_StringValue:
		part, found = []byte(kind.StringValue), pb.ColumnType_COLUMN_TYPE_STRING
	case *pb.Value_UrlValue:
		part, found = []byte(kind.UrlValue), pb.ColumnType_COLUMN_TYPE_URL
	case *pb.Value_JsonValue:
		part, found = []byte(kind.JsonValue), pb.ColumnType_COLUMN_TYPE_JSON
	case *pb.Value_UuidValue:
		part, found = kind.UuidValue, pb.ColumnType_COLUMN_TYPE_UUID
	case *pb.Value_DataValue:
		part, found = kind.DataValue, pb.ColumnType_COLUMN_TYPE_DATA
	}
	b.column.Heap = append(b.column.Heap, part...)
	b.bytes += len(part)
	b.end(len(b.column.Heap))
	return found == b.column.Type
}

func (b *columnBuilder) appendObjects(given any, value *pb.Value) *Error {
	isList := b.column.Type == pb.ColumnType_COLUMN_TYPE_OBJECTS
	switch kind := value.Kind.(type) {
	case *pb.Value_ObjectValue:
		if isList {
			return b.wrongType(given)
		}
		return b.appendObject(kind.ObjectValue)
	case *pb.Value_ObjectsValue:
		if !isList {
			return b.wrongType(given)
		}
		for _, each := range kind.ObjectsValue.Items {
			if err := b.appendObject(each); err != nil {
				return err
			}
		}
		b.end(len(b.column.Integers))
		return nil
	}
	return b.wrongType(given)
}

func (b *columnBuilder) appendObject(identifier *pb.Identifier) *Error {
	if string(identifier.Store) != string(b.store[:]) {
		return newError(CodeForeignIdentifier,
			"%s cannot have an object of another store, or one that is not stored", b.column.Name)
	}
	index, exists := b.entities[identifier.Entity]
	if !exists {
		index = uint32(len(b.entities))
		b.entities[identifier.Entity] = index
		b.column.Subentities = append(b.column.Subentities, identifier.Entity)
	}
	indexes := b.column.EntityIndexes
	if index > 0 && len(indexes) == 0 {
		indexes = make([]uint32, len(b.column.Integers))
	}
	if index > 0 || len(indexes) > 0 {
		b.column.EntityIndexes = append(indexes, index)
	}
	b.number(identifier.GetKey())
	return nil
}
