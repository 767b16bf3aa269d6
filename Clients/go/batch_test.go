package larder

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	pb "larder/internal/larderv1"
)

var testStore = UUID{7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}

func of(entity string, key int64) Identifier {
	return Identifier{Store: testStore, Entity: entity, Key: key}
}

// columnsOfEachType returns a column of each type, with a value and nil.
func columnsOfEachType() []*pb.Column {
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
		time.Date(2000, 12, 31, 23, 59, 59, 5e8, time.UTC), Decimal("-12.50"), "é", URL("a:b"),
		json.RawMessage("{}"), []byte{0, 255}, UUID{9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9},
		of("Tutor", 4), []Identifier{of("Course", 5), of("Course", 6)},
	}
	listed := columnsOfEachType()
	if len(listed) != len(pb.ColumnType_name)-1 || len(wanted) != len(listed) {
		t.Fatalf("%d columns", len(listed))
	}
	rows, err := appendRows(nil, &pb.Batch{RowCount: 2, Columns: listed}, testStore)
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	for index, column := range listed {
		if found := rows[0].Value(column.Name); !reflect.DeepEqual(found, wanted[index]) {
			t.Errorf("%s: found %v, expected %v", column.Name, found, wanted[index])
		}
		if found, exists := rows[1].lookup(column.Name); found != nil || !exists {
			t.Errorf("%s: found %v, expected nil", column.Name, found)
		}
	}
}

// refusedBatch checks that the rows of a batch are an error.
func refusedBatch(t *testing.T, what string, batch *pb.Batch) {
	t.Helper()
	rows, err := appendRows(nil, batch, testStore)
	if err == nil {
		t.Errorf("%s: found %v", what, rows)
	} else if err.Code != CodeMalformedMessage {
		t.Errorf("%s: found %v", what, err)
	}
}

func cut[Element any](all []Element) []Element {
	if len(all) == 0 {
		return nil
	}
	return all[:len(all)-1]
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
		"a last end of 2^32-1":  func(c *pb.Column) { c.Ends[1] = 1<<32 - 1 },
		"ends that decrease":    func(c *pb.Column) { c.Ends[0], c.Ends[1] = 2, 1 },
	}
	check := func(what string, damage func(*pb.Column), column *pb.Column) {
		damage(column)
		refusedBatch(t, column.Name+" with "+what,
			&pb.Batch{RowCount: 2, Columns: []*pb.Column{column}})
	}
	for index := range columnsOfEachType() {
		for what, damage := range damages {
			check(what, damage, columnsOfEachType()[index])
		}
		for what, damage := range divided {
			if column := columnsOfEachType()[index]; column.Ends != nil {
				check(what, damage, column)
			}
		}
	}
}

func TestValuesThatAreNotValid(t *testing.T) {
	damages := map[int]func(*pb.Column){
		0:  func(c *pb.Column) { c.Integers[0] = 2 },
		6:  func(c *pb.Column) { c.Doubles[0] = 1e300 },
		8:  func(c *pb.Column) { c.Heap = []byte{0xff, 0xff} },
		12: func(c *pb.Column) { c.Ends[0] = 15 },
		13: func(c *pb.Column) { c.EntityIndexes[0] = 2 },
		14: func(c *pb.Column) { c.Integers[0] = 0 },
	}
	for index, damage := range damages {
		column := columnsOfEachType()[index]
		damage(column)
		refusedBatch(t, column.Name, &pb.Batch{RowCount: 2, Columns: []*pb.Column{column}})
	}
	column := columnsOfEachType()[13]
	column.EntityIndexes = []uint32{1}
	refusedBatch(t, "an index for one of two keys",
		&pb.Batch{RowCount: 2, Columns: []*pb.Column{column}})
}

func TestIdentitiesThatDoNotFitToTheRows(t *testing.T) {
	identity := &pb.Identity{Entity: "Course", Keys: []int64{1}, Versions: []int64{1}}
	refusedBatch(t, "rows without columns", &pb.Batch{RowCount: 1 << 31})
	refusedBatch(t, "one key for two rows", &pb.Batch{RowCount: 2, Identity: identity})
	refusedBatch(t, "a key of 0", &pb.Batch{RowCount: 1, Identity: &pb.Identity{
		Entity: "Course", Keys: []int64{0}, Versions: []int64{1},
	}})
	refusedBatch(t, "no version", &pb.Batch{RowCount: 1, Identity: &pb.Identity{
		Entity: "Course", Keys: []int64{1},
	}})
	rows, err := appendRows(nil, &pb.Batch{RowCount: 1, Identity: identity}, testStore)
	if err != nil || len(rows) != 1 || rows[0].Identifier != of("Course", 1) {
		t.Error(rows, err)
	}
}
