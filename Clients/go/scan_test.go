package larder

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

type identified struct {
	ID      Identifier `larder:"@id"`
	Version int64      `larder:"@version"`
}

type scanned struct {
	identified
	Exported
	Name     title        `larder:"name"`
	Year     year         `larder:"year"`
	Optional *int         `larder:"optional"`
	Price    string       `larder:"price"`
	Mentor   Identifier   `larder:"mentor"`
	Derived  float32      `larder:"derived,readonly"`
	Any      any          `larder:"any"`
	Courses  []Identifier `larder:"courses"`
	Other    string
}

// Exported is embedded.
type Exported struct {
	Bytes    []byte          `larder:"bytes"`
	Document json.RawMessage `larder:"document"`
	Time     *time.Time      `larder:"time"`
}

func rowOf(values Values) Row {
	row := Row{Identifier: of("Person", 3), Version: 4}
	var list []string
	for _, name := range sortedNames(values) {
		list = append(list, name)
		row.values = append(row.values, values[name])
	}
	row.names = newNames(list)
	return row
}

func sample() Values {
	return Values{
		"name": "Ann", "year": int64(2001), "optional": int64(5), "price": Decimal("1.5"),
		"mentor": of("Tutor", 1), "derived": 0.5, "any": int64(9), "bytes": []byte{1},
		"document": json.RawMessage("1"), "time": time.Unix(0, 0),
	}
}

func TestAStructIsScannedAndWritten(t *testing.T) {
	five, when := 5, time.Unix(0, 0)
	wanted := scanned{
		identified: identified{of("Person", 3), 4}, Name: "Ann", Year: 2001, Optional: &five,
		Price: "1.5", Mentor: of("Tutor", 1), Derived: 0.5, Any: int64(9),
		Exported: Exported{[]byte{1}, json.RawMessage("1"), &when},
	}
	var found scanned
	must(t, rowOf(sample()).ScanStruct(&found))
	if !reflect.DeepEqual(found, wanted) {
		t.Errorf("found %+v, expected %+v", found, wanted)
	}
	values, err := written(&found)
	if err != nil || len(values) != 9 || values["name"] != title("Ann") || values["any"] != int64(9) {
		t.Error(values, err)
	}
	for _, name := range []string{"@id", "@version", "derived", "courses", "Other"} {
		if _, exists := values[name]; exists {
			t.Errorf("%s is written", name)
		}
	}
	found.Courses = []Identifier{}
	if values, err := written(found); err != nil || values["courses"] == nil {
		t.Error(values, err)
	}
}

func TestNilIsScannedIntoWhatCanBeNil(t *testing.T) {
	values := sample()
	for _, name := range []string{"optional", "mentor", "any", "bytes", "document", "time"} {
		values[name] = nil
	}
	five := 5
	found := scanned{Optional: &five, Mentor: of("Tutor", 1), Any: 1}
	must(t, rowOf(values).ScanStruct(&found))
	if found.Optional != nil || !found.Mentor.IsZero() || found.Any != nil || found.Time != nil {
		t.Errorf("found %+v", found)
	}
	values["name"] = nil
	expect(t, rowOf(values).ScanStruct(&found), CodeWrongType)
}

func TestStructsThatDoNotFitAreErrors(t *testing.T) {
	changes := map[string]any{
		"name": int64(1), "year": int64(1 << 20), "optional": "5", "mentor": "Tutor", "bytes": "a",
		"time": 0.5, "document": time.Unix(0, 0),
	}
	for name, value := range changes {
		values := sample()
		values[name] = value
		var found scanned
		expect(t, rowOf(values).ScanStruct(&found), CodeWrongType)
	}
	values := sample()
	delete(values, "year")
	var found scanned
	expect(t, rowOf(values).ScanStruct(&found), CodeUnknownProperty)
	others := []any{
		found, (*scanned)(nil), nil, 1, &struct{ Name string }{},
		&struct {
			name string `larder:"name"`
		}{},
		&struct {
			Name string `larder:""`
		}{},
		&struct {
			Name string `larder:"name,unknown"`
		}{},
		&struct {
			A string `larder:"name"`
			B string `larder:"name"`
		}{},
	}
	for _, other := range others {
		expect(t, rowOf(sample()).ScanStruct(other), CodeWrongType)
	}
	if _, err := written(1); err == nil || err.Code != CodeWrongType {
		t.Error(err)
	}
}

func TestARowIsScannedInTheOrderOfItsColumns(t *testing.T) {
	row := rowOf(Values{"a": int64(1), "b": "two", "c": nil})
	var a uint8
	var b string
	var c *string
	must(t, row.Scan(&a, &b, &c))
	if a != 1 || b != "two" || c != nil {
		t.Error(a, b, c)
	}
	expect(t, row.Scan(&a, &b), CodeWrongType)
	expect(t, row.Scan(&a, &b, c), CodeWrongType)
	expect(t, row.Scan(a, &b, &c), CodeWrongType)
	expect(t, row.Scan(&b, &b, &c), CodeWrongType)
	if names := row.Names(); !reflect.DeepEqual(names, []string{"a", "b", "c"}) {
		t.Error(names)
	}
	if row.Value("d") != nil || (Row{}).Value("a") != nil || (Row{}).Names() != nil {
		t.Error(row)
	}
}
