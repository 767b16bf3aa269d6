package larder

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestTheHistoryHasEachTransaction(t *testing.T) {
	ctx, client := serve(t)
	start, err := client.CurrentToken(ctx)
	must(t, err)
	if start != client.TokenAfter(0) {
		t.Error(start)
	}
	ann, err := client.Insert(ctx, "Person", Values{"name": "Ann"})
	must(t, err)
	_, err = client.Update(ctx, ann, Values{"name": "Anna"})
	must(t, err)
	must(t, client.Delete(ctx, ann))
	insertPeople(t, ctx, client, 3, "x")
	read := func(request HistoryRequest) (found []string) {
		history, err := client.History(ctx, request)
		must(t, err)
		defer history.Close()
		for history.Next() {
			transaction := history.Transaction()
			line := fmt.Sprint(transaction.Number)
			for _, run := range transaction.Runs {
				line += fmt.Sprintf(" %v %s %d-%d %v",
					run.Kind, run.Entity, run.FirstKey, run.LastKey, run.Properties)
			}
			for _, tombstone := range transaction.Tombstones {
				line += fmt.Sprint(" ", tombstone.Identifier == ann, tombstone.Values)
			}
			found = append(found, line)
			if transaction.Author != "tester" || transaction.Client != "go test" ||
				transaction.User == nil || transaction.Process == nil ||
				time.Since(transaction.Time) > time.Hour {
				t.Errorf("%+v", transaction)
			}
			token := history.Position()
			isPlain := request.Kinds == nil && !request.NewestFirst
			if isPlain && token != transaction.Token {
				t.Error(token, transaction.Token)
			}
			if request.Kinds != nil && token.Number != 4 || request.NewestFirst && token.Number != 3 {
				t.Error(token)
			}
		}
		must(t, history.Err())
		return found
	}
	all := []string{
		"1 inserted Person 1-1 []", "2 updated Person 1-1 [name]",
		"3 deleted Person 1-1 [] true map[name:Anna]", "4 inserted Person 2-4 []",
	}
	third := Token{start.Store, start.Epoch, 2}
	for _, each := range []struct {
		request HistoryRequest
		wanted  []string
	}{
		{HistoryRequest{}, all}, {HistoryRequest{After: start}, all},
		{HistoryRequest{After: third}, all[2:]}, {HistoryRequest{UpTo: third}, all[:2]},
		{HistoryRequest{Limit: 1}, all[:1]}, {HistoryRequest{Kinds: []ChangeKind{Updated}}, all[1:2]},
		{HistoryRequest{NewestFirst: true, Limit: 1}, all[3:]},
		{HistoryRequest{Authors: []string{"nobody"}}, nil},
		{HistoryRequest{Until: time.Now().Add(-time.Hour)}, nil},
		{HistoryRequest{WithoutChanges: true, Limit: 1}, []string{"1"}},
	} {
		if found := read(each.request); !reflect.DeepEqual(found, each.wanted) {
			t.Errorf("%+v: found %q", each.request, found)
		}
	}
}

func TestPositionsThatAreNotInTheHistory(t *testing.T) {
	ctx, client := serve(t)
	token, err := client.CurrentToken(ctx)
	must(t, err)
	for _, after := range []Token{{token.Store, token.Epoch, 99}, {UUID{1}, token.Epoch, 0}} {
		history, err := client.History(ctx, HistoryRequest{After: after})
		must(t, err)
		if history.Next() {
			t.Error(history.Transaction())
		}
		expect(t, history.Err(), ErrNotFound)
	}
	_, err = client.Follow(ctx, HistoryRequest{Limit: 1})
	expect(t, err, CodeUnsupported)
}

func TestAFollowerAndAnObserverContinueAfterTheServerWasKilled(t *testing.T) {
	server := newServer(t, true)
	ctx, client := connect(t, server, Options{ReconnectWait: time.Minute})
	history, err := client.Follow(ctx, HistoryRequest{})
	must(t, err)
	defer history.Close()
	live, err := client.Observe(ctx, From("Person").SortBy("name"), ObserveOptions{})
	must(t, err)
	defer live.Close()
	if !live.Next() || len(live.Result().Rows) != 0 {
		t.Fatal(live.Err())
	}
	for round := 1; round <= 3; round++ {
		set := &ChangeSet{IdempotencyKey: NewKey()}
		name := fmt.Sprint("person ", round)
		inserted := set.Insert("Person", Values{"name": name})
		saved, err := client.Save(ctx, set)
		must(t, err)
		if !history.Next() || history.Transaction().Number != int64(round) {
			t.Fatal(round, history.Transaction(), history.Err())
		}
		if !live.Next() || len(live.Result().Rows) != round ||
			!reflect.DeepEqual(live.Result().Inserted, []int{round - 1}) {
			t.Fatal(round, live.Result(), live.Err())
		}
		last := live.Result().Rows[round-1]
		if last.Identifier != saved.Identifier(inserted) || last.Value("name") != name {
			t.Error(last)
		}
		server.kill()
		server.start(t)
	}
	if count, err := client.Count(ctx, From("Person")); err != nil || count != 3 {
		t.Error(count, err)
	}
}

func TestAnObservedQueryReportsEachChange(t *testing.T) {
	ctx, client := serve(t)
	people := From("Person").Where("year < 3000").SortBy("name").Limit(3)
	live, err := client.Observe(ctx, people, ObserveOptions{})
	must(t, err)
	defer live.Close()
	next := func() Result {
		t.Helper()
		if !live.Next() {
			t.Fatal(live.Err())
		}
		rows, err := client.Fetch(ctx, people)
		must(t, err)
		if found := live.Result().Rows; len(found) != len(rows) {
			t.Errorf("found %v, expected %v", found, rows)
		}
		for index, row := range live.Result().Rows {
			if !row.equals(rows[index]) {
				t.Errorf("found %v, expected %v", row, rows[index])
			}
		}
		return live.Result()
	}
	if result := next(); len(result.Rows) != 0 {
		t.Error(result)
	}
	set := &ChangeSet{}
	var people4 []Identifier
	for _, name := range []string{"b", "d", "f", "h"} {
		people4 = append(people4, set.Insert("Person", Values{"name": name}))
	}
	saved, err := client.Save(ctx, set)
	must(t, err)
	for index, temporary := range people4 {
		people4[index] = saved.Identifier(temporary)
	}
	if result := next(); !reflect.DeepEqual(result.Inserted, []int{0, 1, 2}) {
		t.Error(result)
	}
	update := func(index int, values Values) Result {
		t.Helper()
		_, err := client.Update(ctx, people4[index], values)
		must(t, err)
		return next()
	}
	if result := update(1, Values{"year": 5}); !reflect.DeepEqual(result.Updated, []Move{{1, 1}}) {
		t.Error(result)
	}
	if result := update(2, Values{"name": "a"}); len(result.Moved) != 1 {
		t.Error(result)
	}
	if result := update(0, Values{"year": 4000}); len(result.Deleted) != 1 ||
		result.Deleted[0].Row.Identifier != people4[0] || len(result.Inserted) != 1 {
		t.Error(result)
	}
	must(t, client.Delete(ctx, people4[1]))
	if result := next(); result.Position.Number != 5 || len(result.Rows) != 2 {
		t.Error(result)
	}
}

func TestTheRowsOfAnObservedQueryHaveSections(t *testing.T) {
	ctx, client := serve(t)
	options := ObserveOptions{Section: SortKey{Expression: "mentor.name", Descending: true}}
	live, err := client.Observe(ctx, From("Person").SortBy("name"), options)
	must(t, err)
	defer live.Close()
	next := func(wanted ...Section) {
		t.Helper()
		if !live.Next() || !reflect.DeepEqual(live.Result().Sections, wanted) {
			t.Fatal(live.Result(), live.Err())
		}
	}
	next()
	set := &ChangeSet{}
	tom := set.Insert("Tutor", Values{"name": "Tom"})
	for _, name := range []string{"Ann", "Bob"} {
		set.Insert("Person", Values{"name": name, "mentor": tom})
	}
	saved, err := client.Save(ctx, set)
	must(t, err)
	next(Section{"Tom", 0, 2}, Section{nil, 2, 3})
	if rows := live.Result().Rows; rows[0].Value("name") != "Ann" || len(rows) != 3 {
		t.Error(rows)
	}
	_, err = client.Update(ctx, saved.Identifier(tom), Values{"name": "Tim"})
	must(t, err)
	next(Section{"Tim", 0, 2}, Section{nil, 2, 3})
	_, err = client.Update(ctx, saved.Inserted[1], Values{"mentor": nil})
	must(t, err)
	next(Section{"Tim", 0, 1}, Section{nil, 1, 3})
	must(t, client.Delete(ctx, saved.Inserted[2]))
	next(Section{nil, 0, 2})
	live, err = client.Observe(ctx, From("Person").Compute("n", FunctionCount, ""), options)
	must(t, err)
	if live.Next() {
		t.Error(live.Result())
	}
	expect(t, live.Err(), ErrInvalid)
}

func TestAnObservedAggregateIsSentAgain(t *testing.T) {
	ctx, client := serve(t)
	query := From("Person").Compute("count", FunctionCount, "")
	short, cancel := context.WithCancel(ctx)
	options := ObserveOptions{Interval: time.Millisecond}
	live, err := client.Observe(short, query, options)
	must(t, err)
	defer live.Close()
	for count := int64(0); count < 3; count++ {
		if !live.Next() || live.Result().Rows[0].Value("count") != count {
			t.Fatal(live.Result(), live.Err())
		}
		_, err := client.Insert(ctx, "Person", Values{"name": "Ann"})
		must(t, err)
	}
	if !live.Next() {
		t.Fatal(live.Err())
	}
	cancel()
	if live.Next() {
		t.Error(live.Result())
	}
	expect(t, live.Err(), CodeCancelled, context.Canceled)
	for _, query := range []Query{From("Person").Offset(1), From("Person").Where("nam == 1")} {
		live, err := client.Observe(ctx, query, ObserveOptions{})
		must(t, err)
		if live.Next() {
			t.Error(live.Result())
		}
		expect(t, live.Err(), ErrInvalid)
	}
}

// The result is longer than a reply and than the credit of the observer.
func TestALongResultIsObserved(t *testing.T) {
	ctx, client := serve(t)
	insertPeople(t, ctx, client, 20_000, strings.Repeat("long ", 20))
	live, err := client.Observe(ctx, From("Person"), ObserveOptions{})
	must(t, err)
	if !live.Next() || len(live.Result().Rows) != 20_000 {
		t.Fatal(len(live.Result().Rows), live.Err())
	}
	must(t, live.Close())
	if live.Next() || live.Err() != nil {
		t.Error(live.Err())
	}
}

func TestALongTransactionOfTheHistoryIsJoined(t *testing.T) {
	ctx, client := serve(t)
	insertPeople(t, ctx, client, 20_000, "a")
	// Deletes of every other object are runs of one key each, with a tombstone.
	count, err := client.DeleteAll(ctx, From("Person").Where("modulus(year, 2) == 0 AND name == 'a'"))
	must(t, err)
	after, err := client.CurrentToken(ctx)
	must(t, err)
	after.Number--
	for _, follow := range []bool{false, true} {
		request := HistoryRequest{After: after}
		history, err := client.History(ctx, request)
		if follow {
			history, err = client.Follow(ctx, request)
		}
		must(t, err)
		if !history.Next() {
			t.Fatal(history.Err())
		}
		if found := len(history.Transaction().Tombstones); int64(found) != count {
			t.Errorf("found %d tombstones of %d", found, count)
		}
		must(t, history.Close())
	}
}

func TestCloseEndsAFollower(t *testing.T) {
	ctx, client := serve(t)
	start, err := client.CurrentToken(ctx)
	must(t, err)
	history, err := client.Follow(ctx, HistoryRequest{After: start})
	must(t, err)
	ended := make(chan error)
	go func() {
		for history.Next() {
			client.Close()
		}
		ended <- history.Err()
	}()
	_, err = client.Insert(ctx, "Person", Values{"name": "Ann"})
	if err != nil {
		expect(t, err, CodeIndeterminate)
	}
	expect(t, <-ended, CodeConnectionFailed)
	_, err = client.CurrentToken(ctx)
	expect(t, err, CodeConnectionFailed)
}
