package larder

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	pb "larder/v1"
)

var store = bytes.Repeat([]byte{7}, 16)

func of(entity string, key int64) *pb.Identifier {
	return &pb.Identifier{Store: store, Entity: entity, Name: &pb.Identifier_Key{Key: key}}
}

// columns returns a column of each type, with a value and nil.
func columns() []*pb.Column {
	uuid := bytes.Repeat([]byte{9}, 16)
	columns := []*pb.Column{
		{Type: pb.ColumnType_COLUMN_TYPE_BOOL, Integers: []int64{1, 0}},
		{Type: pb.ColumnType_COLUMN_TYPE_INT16, Integers: []int64{-2, 0}},
		{Type: pb.ColumnType_COLUMN_TYPE_INT32, Integers: []int64{-3, 0}},
		{Type: pb.ColumnType_COLUMN_TYPE_INT64, Integers: []int64{-1 << 63, 0}},
		{Type: pb.ColumnType_COLUMN_TYPE_FLOAT, Doubles: []float64{0.5, 0}},
		{Type: pb.ColumnType_COLUMN_TYPE_DOUBLE, Doubles: []float64{-0.1, 0}},
		{Type: pb.ColumnType_COLUMN_TYPE_DATE, Doubles: []float64{-0.5, 0}},
		{Type: pb.ColumnType_COLUMN_TYPE_DECIMAL, Heap: []byte("-12.50"), Ends: []uint32{6, 6}},
		{Type: pb.ColumnType_COLUMN_TYPE_STRING, Heap: []byte("é"), Ends: []uint32{2, 2}},
		{Type: pb.ColumnType_COLUMN_TYPE_URL, Heap: []byte("a:b"), Ends: []uint32{3, 3}},
		{Type: pb.ColumnType_COLUMN_TYPE_JSON, Heap: []byte("{}"), Ends: []uint32{2, 2}},
		{Type: pb.ColumnType_COLUMN_TYPE_DATA, Heap: []byte{0, 255}, Ends: []uint32{2, 2}},
		{Type: pb.ColumnType_COLUMN_TYPE_UUID, Heap: uuid, Ends: []uint32{16, 16}},
		{Type: pb.ColumnType_COLUMN_TYPE_OBJECT, Entity: "Person", Integers: []int64{4, 0},
			Subentities: []string{"Tutor"}, EntityIndexes: []uint32{1, 0}},
		{Type: pb.ColumnType_COLUMN_TYPE_OBJECTS, Entity: "Course", Integers: []int64{5, 6},
			Ends: []uint32{2, 2}},
	}
	for _, column := range columns {
		column.Name, column.Nulls = column.Type.String(), []byte{2}
	}
	return columns
}

func TestAColumnOfEachType(t *testing.T) {
	wanted := []any{
		true, int64(-2), int64(-3), int64(-1 << 63), 0.5, -0.1,
		time.Date(2000, 12, 31, 23, 59, 59, 5e8, time.UTC), Decimal("-12.50"), "é", "a:b", "{}",
		[]byte{0, 255}, UUID{9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}, of("Tutor", 4),
		[]*pb.Identifier{of("Course", 5), of("Course", 6)},
	}
	listed := columns()
	if len(listed) != len(pb.ColumnType_name)-1 || len(wanted) != len(listed) {
		t.Fatalf("%d columns", len(listed))
	}
	rows, err := Rows(&pb.Batch{RowCount: 2, Columns: listed}, store)
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	for index, column := range listed {
		if found := rows[0].Values[column.Name]; !reflect.DeepEqual(found, wanted[index]) {
			t.Errorf("%s: found %v, expected %v", column.Name, found, wanted[index])
		}
		if found, exists := rows[1].Values[column.Name]; found != nil || !exists {
			t.Errorf("%s: found %v, expected nil", column.Name, found)
		}
	}
}

func TestColumnsThatContradictEachOther(t *testing.T) {
	damages := map[string]func(*pb.Column){
		"too few rows": func(c *pb.Column) {
			c.Integers, c.Doubles, c.Ends = cut(c.Integers), cut(c.Doubles), cut(c.Ends)
		},
		"no rows":         func(c *pb.Column) { c.Integers, c.Doubles, c.Ends = nil, nil, nil },
		"an unknown type": func(c *pb.Column) { c.Type = 99 },
		"no type":         func(c *pb.Column) { c.Type = 0 },
	}
	divided := map[string]func(*pb.Column){
		"an end after the heap": func(c *pb.Column) { c.Ends[1] = 99 },
		"ends that decrease":    func(c *pb.Column) { c.Ends[0], c.Ends[1] = 2, 1 },
	}
	check := func(what string, damage func(*pb.Column), column *pb.Column) {
		damage(column)
		if rows, err := Rows(&pb.Batch{RowCount: 2, Columns: []*pb.Column{column}}, store); err == nil {
			t.Errorf("%s with %s: found %v", column.Name, what, rows)
		}
	}
	for index := range columns() {
		for what, damage := range damages {
			check(what, damage, columns()[index])
		}
		for what, damage := range divided {
			if column := columns()[index]; column.Ends != nil {
				check(what, damage, column)
			}
		}
	}
	object := columns()[13]
	check("an unknown entity", func(c *pb.Column) { c.EntityIndexes[0] = 2 }, object)
	identity := &pb.Identity{Entity: "Course", Keys: []int64{1}, Versions: []int64{1}}
	for _, batch := range []*pb.Batch{{RowCount: 1 << 31}, {RowCount: 2, Identity: identity}} {
		if _, err := Rows(batch, store); err == nil {
			t.Errorf("found rows in %v", batch)
		}
	}
}

func cut[Element any](all []Element) []Element {
	if len(all) == 0 {
		return nil
	}
	return all[:len(all)-1]
}
