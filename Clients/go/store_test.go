package larder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

type person struct {
	identified
	Name    string       `larder:"name"`
	Year    int          `larder:"year"`
	Mentor  *Identifier  `larder:"mentor"`
	Courses []Identifier `larder:"courses"`
}

func TestValuesOfEachTypeAreStoredAndRead(t *testing.T) {
	ctx, client := serve(t)
	all := Values{
		"flag": true, "small": int64(-5), "medium": int64(1 << 30), "large": int64(-1 << 63),
		"single": 0.5, "number": 0.1, "price": Decimal("-12.50"), "text": "é\x00",
		"time": time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC), "uuid": UUID{1, 2},
		"link": URL("https://example.org/%20"), "bytes": []byte{0, 255},
		"document": json.RawMessage(`{"a":[1,null]}`), "in": int64(3),
	}
	none := Values{}
	var names []string
	for _, name := range sortedNames(all) {
		names, none[name] = append(names, name), nil
	}
	sample, err := client.Insert(ctx, "Sample", all)
	must(t, err)
	empty, err := client.Insert(ctx, "Sample", none)
	must(t, err)
	insertion, err := client.InsertMany(ctx, "Sample", names, InsertOptions{Atomic: true})
	must(t, err)
	for _, values := range []Values{all, none} {
		var row []any
		for _, name := range names {
			row = append(row, values[name])
		}
		must(t, insertion.Add(row...))
	}
	count, err := insertion.Finish()
	if err != nil || count != 2 {
		t.Fatal(count, err)
	}
	wanted := []Values{all, none, all, none}
	rows, err := client.Fetch(ctx, From("Sample"))
	must(t, err)
	for index, row := range rows {
		found := row.Values()
		if price, isDecimal := found["price"].(Decimal); isDecimal && price == "-12.5" {
			found["price"] = Decimal("-12.50")
		}
		if !reflect.DeepEqual(found, wanted[index]) {
			t.Errorf("row %d: found %v, expected %v", index, found, wanted[index])
		}
	}
	both, err := client.GetAll(ctx, empty, sample, of("Sample", 1))
	expect(t, err, CodeForeignIdentifier, ErrNotFound)
	both, err = client.GetAll(ctx, empty, sample)
	if err != nil || len(both) != 2 || both[0].Identifier != empty {
		t.Error(both, err)
	}
	// Each value is an argument that selects its object.
	for _, name := range names {
		if name == "document" {
			continue
		}
		query := From("Sample").Where("%K == %@", name, all[name])
		if count, err := client.Count(ctx, query); err != nil || count != 2 {
			t.Errorf("%s: found %d, %v", name, count, err)
		}
	}
	// A property may have the name of a word of the language of predicates.
	type keyword struct {
		In *int `larder:"in"`
	}
	words, err := FetchAs[keyword](ctx, client, From("Sample").Limit(2))
	if err != nil || *words[0].In != 3 || words[1].In != nil {
		t.Error(words, err)
	}
}

func TestStructsAreInsertedFetchedAndUpdated(t *testing.T) {
	ctx, client := serve(t)
	ann, err := client.Insert(ctx, "Person", person{Name: "Ann", Year: 2001})
	must(t, err)
	tutor, err := client.Insert(ctx, "Tutor", Values{"name": "Tom", "room": "7"})
	must(t, err)
	found, err := GetAs[person](ctx, client, ann)
	must(t, err)
	if !reflect.DeepEqual(found, person{identified{ann, 1}, "Ann", 2001, nil, []Identifier{}}) {
		t.Error(found)
	}
	found.Mentor = &tutor
	version, err := client.Update(ctx, found.ID, &found)
	if err != nil || version != 2 {
		t.Fatal(version, err)
	}
	people, err := FetchAs[person](ctx, client, From("Person").SortBy("name"))
	must(t, err)
	if len(people) != 2 || *people[0].Mentor != tutor || people[1].ID != tutor ||
		people[1].ID.Entity != "Tutor" || people[1].Year != 2000 {
		t.Error(people)
	}
	type joined struct {
		Mentor string `larder:"mentor.name"`
		Length int    `larder:"length(name)"`
	}
	query := From("Person").Where("mentor != nil")
	mentored, err := FetchAs[joined](ctx, client, query)
	if err != nil || !reflect.DeepEqual(mentored, []joined{{"Tom", 3}}) {
		t.Error(mentored, err)
	}
	must(t, client.Delete(ctx, tutor, ann))
	_, err = GetAs[person](ctx, client, ann)
	expect(t, err, ErrNotFound, CodeObjectNotFound)
	_, err = client.Update(ctx, ann, Values{"name": "Anna"})
	expect(t, err, CodeObjectNotFound)
}

func TestQueriesHaveEachClause(t *testing.T) {
	ctx, client := serve(t)
	set := &ChangeSet{}
	for index, name := range []string{"Ann", "Bob", "Cid", "Dan", "Eve", "Ann"} {
		set.Insert("Person", Values{"name": name, "year": 2000 + index/2})
	}
	_, err := client.Save(ctx, set)
	must(t, err)
	names := func(query Query) string {
		rows, err := client.Fetch(ctx, query)
		must(t, err)
		var found []string
		for _, row := range rows {
			found = append(found, fmt.Sprint(row.Value("name")))
		}
		return strings.Join(found, " ")
	}
	people := From("Person").SortBy("name")
	ann := people.Where("name == %@", "Ann")
	rows, err := client.Fetch(ctx, people)
	must(t, err)
	for _, each := range []struct{ found, wanted string }{
		{names(people), "Ann Ann Bob Cid Dan Eve"},
		{names(ann.SortByDescending("year")), "Ann Ann"},
		{names(people.SortByDescending("year").Limit(3).Offset(1)), "Ann Bob Cid"},
		{names(people.Columns("name").Distinct()), "Ann Bob Cid Dan Eve"},
		{names(people.Where("name IN %@", []string{"Bob", "Eve"})), "Bob Eve"},
		{names(people.Where("year BETWEEN %@", []int{2001, 2001})), "Cid Dan"},
		{names(people.Where("name < $last").Variable("last", "B")), "Ann Ann"},
		{names(people.After(rows[2].Identifier, rows[2].Value("name"))), "Cid Dan Eve"},
		{names(people.Column("name", "concat(name, %@)", "!").Limit(1)), "Ann!"},
		{names(people.Sort(SortKey{Expression: "year - %@", Arguments: []any{1}}).Limit(2)), "Ann Ann"},
		{names(From("Person").Sort(SortKey{Expression: "length(name) * (year - %@)",
			Arguments: []any{2001}, Descending: true, Nils: NilsLast}).Limit(1)), "Eve"},
		{names(From("Person").Sort(SortKey{Expression: "name", Order: OrderLocalizedStandard}).
			Limit(3)), "Ann Ann Bob"},
		{names(From("Tutor")), ""},
		{names(people.WithoutSubentities().Limit(1)), "Ann"},
	} {
		if each.found != each.wanted {
			t.Errorf("found %s, expected %s", each.found, each.wanted)
		}
	}
	groups := people.Where("name != %@", "Eve").GroupBy("year", "year").
		Compute("count", FunctionCount, "").Compute("first", FunctionMinimum, "name").
		ComputeWhere("anns", FunctionCount, "", "name == %@", "Ann").
		Having("count >= %@", 1)
	found, err := client.Aggregate(ctx, groups)
	expect(t, err, CodeUnknownProperty)
	groups.sort = nil
	found, err = client.Aggregate(ctx, groups.SortByDescending("year"))
	must(t, err)
	wanted := [][]any{
		{int64(2002), int64(1), "Ann", int64(1)}, {int64(2001), int64(2), "Cid", int64(0)},
		{int64(2000), int64(2), "Ann", int64(1)},
	}
	for index, row := range found {
		if !reflect.DeepEqual(row.values, wanted[index]) || !row.Identifier.IsZero() {
			t.Errorf("found %v", row.values)
		}
	}
}

func TestQueriesThatAreNotValidAreErrors(t *testing.T) {
	ctx, client := serve(t)
	people := From("Person").SortBy("name")
	_, err := client.Aggregate(ctx, people)
	expect(t, err, CodeUnsupported)
	groups := From("Person").GroupBy("year", "year")
	_, err = client.Fetch(ctx, groups.Columns("name"))
	expect(t, err, CodeUnsupported)
	_, err = client.Count(ctx, people)
	expect(t, err, CodeUnsupported)
	_, err = client.Fetch(ctx, people.Where("name == %@", struct{}{}))
	expect(t, err, CodeWrongType)
	_, err = client.Fetch(ctx, people.Where("nam == 1"))
	expect(t, err, CodeUnknownProperty, ErrInvalid)
	if failed := err.(*Error); failed.Column != 1 || failed.Hint == "" || failed.Name() !=
		"UNKNOWN_PROPERTY" {
		t.Errorf("%+v", failed)
	}
}

func TestAChangeSetIsOneTransaction(t *testing.T) {
	ctx, client := serve(t)
	set := &ChangeSet{IdempotencyKey: NewKey(), Author: "me"}
	course := set.Insert("Course", Values{"title": "Maths"})
	ann := set.Insert("Person", Values{"name": "Ann", "courses": []Identifier{course}})
	bob := set.Insert("Person", Values{"name": "Bob"})
	saved, err := client.Save(ctx, set)
	must(t, err)
	again, err := client.Save(ctx, set)
	must(t, err)
	if !reflect.DeepEqual(saved, again) || saved.Transaction != 1 {
		t.Error(saved, again)
	}
	edits := &ChangeSet{}
	edits.Update(saved.Identifier(course), nil).AddAt("people", 0, saved.Identifier(bob)).
		Move("people", 1, saved.Identifier(bob)).Move("people", 0, saved.Identifier(bob))
	_, err = client.Save(ctx, edits)
	must(t, err)
	row, err := client.Get(ctx, saved.Identifier(course))
	must(t, err)
	people := []Identifier{saved.Identifier(bob), saved.Identifier(ann)}
	if !reflect.DeepEqual(row.Value("people"), people) {
		t.Error(row)
	}
	set.Insert("Person", Values{"name": "Cid"})
	_, err = client.Save(ctx, set)
	expect(t, err, CodeIdempotencyMismatch)

	changes := &ChangeSet{WantAffected: true}
	changes.Require(From("Person"), 2)
	changes.Update(people[0], Values{"name": "Rob"}).IfVersion(1)
	changes.UpdateAll(From("Person").Where("name == %@", "Ann"), Values{
		"year": Expression{"year + %@", []any{5}}, "name": "Anna",
	})
	changes.UpdateAll(From("Person").SortByDescending("name").Limit(1), Values{"year": 1})
	changes.Update(saved.Identifier(course), nil).Remove("people", people[1])
	saved, err = client.Save(ctx, changes)
	must(t, err)
	if saved.UpdatedVersions[0] != 2 || len(saved.Affected) != 2 ||
		!reflect.DeepEqual(saved.Affected[0], Affected{1, people[1:]}) {
		t.Error(saved)
	}
	found, err := FetchAs[person](ctx, client, From("Person").SortBy("name"))
	must(t, err)
	if found[0].Name != "Anna" || found[0].Year != 2005 || len(found[0].Courses) != 0 ||
		found[1].Name != "Rob" || found[1].Year != 1 {
		t.Error(found)
	}
	count, err := client.DeleteAll(ctx, From("Person").Where("year > 1"))
	if err != nil || count != 1 {
		t.Error(count, err)
	}
	count, err = client.UpdateAll(ctx, From("Person"), Values{"year": nil})
	expect(t, err, CodeMissingValue)
	if count != 0 {
		t.Error(count)
	}
}

func TestValuesOfWrongTypesAreErrorsOfTheSet(t *testing.T) {
	ctx, client := serve(t)
	for _, add := range []func(*ChangeSet){
		func(s *ChangeSet) { s.Insert("Person", 1) },
		func(s *ChangeSet) { s.Insert("Person", Values{"name": make(chan int)}) },
		func(s *ChangeSet) { s.Update(of("Person", 1), Values{"name": []string{}}) },
		func(s *ChangeSet) { s.UpdateAll(From("Person"), Values{"name": struct{}{}}) },
	} {
		set := &ChangeSet{}
		add(set)
		_, err := client.Save(ctx, set)
		expect(t, err, CodeWrongType)
	}
	set := &ChangeSet{}
	set.DeleteAll(From("Person").Offset(1))
	_, err := client.Save(ctx, set)
	expect(t, err, CodeUnsupported)
}

func TestConflictsAndViolationsAreTypedErrors(t *testing.T) {
	ctx, client := serve(t)
	ann, err := client.Insert(ctx, "Person", Values{"name": "Ann"})
	must(t, err)
	_, err = client.Update(ctx, ann, Values{"name": "Anna"})
	must(t, err)
	set := &ChangeSet{}
	set.Insert("Course", Values{"title": "Maths"})
	set.Update(ann, Values{"name": "Anne"}).IfVersion(1)
	_, err = client.Save(ctx, set)
	expect(t, err, ErrConflict, CodeVersionConflict)
	failed := err.(*Error)
	if len(failed.Violations) != 1 || failed.Violations[0].Change != 1 ||
		failed.Violations[0].StoredVersion != 2 || failed.Violations[0].URI != ann.URI() {
		t.Errorf("%+v", failed)
	}
	set = &ChangeSet{MergePolicy: MergeStoreWins}
	set.Update(ann, Values{"name": "Anne", "year": 7}).Base(Values{"name": "Ann", "year": 2000})
	saved, err := client.Save(ctx, set)
	if err != nil || !reflect.DeepEqual(saved.Merged, []int{0}) {
		t.Error(saved, err)
	}
	row, err := client.Get(ctx, ann)
	if err != nil || row.Value("name") != "Anna" || row.Value("year") != int64(7) {
		t.Error(row, err)
	}
	set = &ChangeSet{}
	set.Require(From("Person"), 0)
	_, err = client.Save(ctx, set)
	expect(t, err, ErrConflict, CodeConditionFailed)
	if found := err.(*Error).Violations[0]; found.Condition != 0 || found.Found != 1 {
		t.Errorf("%+v", found)
	}
	set = &ChangeSet{Upsert: true}
	maths := set.Insert("Course", Values{"title": "Maths"})
	set.Insert("Course", Values{"title": "Maths"})
	saved, err = client.Save(ctx, set)
	if err != nil || saved.Identifier(maths) != saved.Inserted[1] ||
		!reflect.DeepEqual(saved.Upserted, []int{1}) {
		t.Error(saved, err)
	}
	_, err = client.Insert(ctx, "Course", Values{"title": "Maths"})
	expect(t, err, ErrInvalid, CodeUniquenessViolated)
	_, err = client.Insert(ctx, "Nothing", nil)
	expect(t, err, CodeUnknownEntity)
}

func TestInsertionsReportTheErrorsOfTheirRows(t *testing.T) {
	ctx, client := serve(t)
	ann, err := client.Insert(ctx, "Person", Values{"name": "Ann"})
	must(t, err)
	tom, err := client.Insert(ctx, "Tutor", Values{"name": "Tom"})
	must(t, err)
	properties := []string{"title", "people"}
	insertion, err := client.InsertMany(ctx, "Course", properties, InsertOptions{})
	must(t, err)
	for n := 0; n < 12_000; n++ {
		must(t, insertion.Add(fmt.Sprint("c", n), []Identifier{tom, ann}[:n%3]))
	}
	must(t, insertion.AddStruct(struct {
		Title  string       `larder:"title"`
		People []Identifier `larder:"people"`
	}{"last", []Identifier{ann}}))
	if count, err := insertion.Finish(); err != nil || count != 12_001 {
		t.Error(count, err)
	}
	expect(t, insertion.Add("more", nil), CodeCancelled)
	course, err := client.Fetch(ctx, From("Course").Where("title == 'c2'").Columns("people"))
	if err != nil || !reflect.DeepEqual(course[0].Value("people"), []Identifier{tom, ann}) {
		t.Error(course, err)
	}
	for _, isAtomic := range []bool{false, true} {
		options := InsertOptions{Atomic: isAtomic}
		insertion, err := client.InsertMany(ctx, "Course", []string{"title"}, options)
		must(t, err)
		err = insertion.Add(fmt.Sprint("new", isAtomic))
		for n := 0; n < 5_000 && err == nil; n++ {
			err = insertion.Add(fmt.Sprint("d", n))
		}
		must(t, insertion.Add("c7"))
		_, err = insertion.Finish()
		expect(t, err, CodeUniquenessViolated)
		if found := err.(*Error).Violations[0].Change; found != 5_001 {
			t.Errorf("row %d", found)
		}
		count, err := client.Count(ctx, From("Course").Where("title BEGINSWITH 'd'"))
		wanted := map[bool]int64{false: 4_999, true: 0}[isAtomic]
		if err != nil || count != wanted {
			t.Error(isAtomic, count, err)
		}
		must(t, insertion.Close())
		_, err = client.DeleteAll(ctx, From("Course").Where("title BEGINSWITH 'd'"))
		must(t, err)
	}
	_, err = client.InsertMany(ctx, "Course", []string{"titel"}, InsertOptions{})
	expect(t, err, CodeUnknownProperty)
	_, err = client.InsertMany(ctx, "Corse", nil, InsertOptions{})
	expect(t, err, CodeUnknownEntity)
	for _, row := range [][]any{{1, nil}, {"a"}, {"a", ann}, {"a", []Identifier{of("Person", 1)}}} {
		insertion, err := client.InsertMany(ctx, "Course", properties, InsertOptions{})
		must(t, err)
		expect(t, insertion.Add(row...))
		_, err = insertion.Finish()
		expect(t, err)
	}
}

func TestMoreRequestsThanMayBeInFlight(t *testing.T) {
	ctx, client := serve(t)
	insertPeople(t, ctx, client, 500, strings.Repeat("many ", 20))
	var group sync.WaitGroup
	for n := 0; n < 4*client.Server().RequestsInFlightMax; n++ {
		group.Add(1)
		go func(n int) {
			defer group.Done()
			rows, err := client.Fetch(ctx, From("Person").Where("name BEGINSWITH %@", "many"))
			if err != nil || len(rows) != 500 {
				t.Errorf("found %d people, %v", len(rows), err)
			}
			if _, err := client.Insert(ctx, "Person", Values{"name": fmt.Sprint(n)}); err != nil {
				t.Error(err)
			}
		}(n)
	}
	group.Wait()
	count, err := client.Count(ctx, From("Person"))
	if err != nil || count != int64(500+4*client.Server().RequestsInFlightMax) {
		t.Error(count, err)
	}
}

func TestStreamsThatEndEarlyFreeTheirRequests(t *testing.T) {
	ctx, client := serve(t)
	insertPeople(t, ctx, client, 5_000, strings.Repeat("long ", 20))
	for n := 0; n < 2*client.Server().RequestsInFlightMax; n++ {
		rows, err := client.Stream(ctx, From("Person"))
		must(t, err)
		if !rows.Next() {
			t.Fatal(rows.Err())
		}
		must(t, rows.Close())
		if rows.Next() || rows.Err() != nil {
			t.Fatal(rows.Err())
		}
		short, cancel := context.WithCancel(ctx)
		rows, err = client.Stream(short, From("Person"))
		must(t, err)
		count := 0
		for rows.Next() {
			if count++; count == 10 {
				cancel()
			}
		}
		cancel()
		expect(t, rows.Err(), CodeCancelled, context.Canceled)
	}
	past, cancel := context.WithDeadline(ctx, time.Now().Add(-time.Second))
	defer cancel()
	_, err := client.CurrentToken(past)
	expect(t, err, CodeTimeout, context.DeadlineExceeded)
	rows, err := client.Stream(ctx, From("Person").Columns("name"))
	must(t, err)
	defer rows.Close()
	count := 0
	for rows.Next() {
		var name string
		must(t, rows.Scan(&name))
		count++
	}
	if rows.Err() != nil || count != 5_000 {
		t.Error(count, rows.Err())
	}
}

func TestARequestThatIsTooLongIsAnErrorBeforeItIsSent(t *testing.T) {
	ctx, client := serve(t)
	_, err := client.Insert(ctx, "Person", Values{"name": strings.Repeat("x", 17<<20)})
	expect(t, err, CodeFrameTooLong)
	_, err = client.Insert(ctx, "Person", Values{"name": "\xff"})
	expect(t, err, CodeMalformedValue)
	must(t, client.Ping(ctx))
	if text, err := client.Schema(ctx); err != nil || !json.Valid(text) {
		t.Error(string(text), err)
	}
}

func TestThereIsNoServer(t *testing.T) {
	_, err := Connect(context.Background(), "nowhere", Options{})
	expect(t, err, CodeConnectionFailed)
	if !strings.Contains(err.Error(), "no such file") || errors.Is(err, ErrUnavailable) {
		t.Error(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if _, err := Connect(context.Background(), "", Options{}); err == nil {
		t.Error("found a server")
	}
}
