// A tour of the client: tour SOCKET [follow].
//
// The server must have the schema ../../school.json, and an empty store for the whole tour. With
// `follow` it prints each transaction after the current one, until there is no server for 5
// seconds.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"larder"
	pb "larder/v1"

	"google.golang.org/protobuf/proto"
)

const (
	many        = 3_000
	tourTime    = 60 * time.Second
	followsTime = 5 * time.Second
)

var errLeft = errors.New("the rest is not needed")

// properties returns values of properties: each name is followed by its value.
func properties(pairs ...any) ([]*pb.PropertyValue, error) {
	var listed []*pb.PropertyValue
	for index := 0; index < len(pairs); index += 2 {
		value, err := larder.Value(pairs[index+1])
		if err != nil {
			return nil, err
		}
		name := fmt.Sprint(pairs[index])
		listed = append(listed, &pb.PropertyValue{Name: name, Value: value})
	}
	return listed, nil
}

// temporary identifies an object that a change set inserts.
func temporary(entity, name string) *pb.Identifier {
	return &pb.Identifier{
		Entity: entity, Name: &pb.Identifier_TemporaryName{TemporaryName: name},
	}
}

// changeSet returns an empty set with a key, so that it can be sent any number of times.
func changeSet() (*pb.ChangeSet, error) {
	key := make([]byte, 16)
	_, err := rand.Read(key)
	return &pb.ChangeSet{IdempotencyKey: hex.EncodeToString(key), Author: "tour"}, err
}

// add appends a change to a set.
func add(set *pb.ChangeSet, kind pb.ChangeKind, object *pb.Identifier, pairs ...any) error {
	values, err := properties(pairs...)
	set.Changes = append(set.Changes, &pb.Change{Kind: kind, Object: object, Values: values})
	return err
}

func save(
	ctx context.Context, client *larder.Client, kind pb.ChangeKind, object *pb.Identifier,
	pairs ...any,
) (*pb.SaveReply, error) {
	set, err := changeSet()
	if err != nil {
		return nil, err
	}
	if err := add(set, kind, object, pairs...); err != nil {
		return nil, err
	}
	return client.SaveRepeatedly(ctx, set)
}

func insert(
	ctx context.Context, client *larder.Client, entity string, pairs ...any,
) (*pb.Identifier, error) {
	object := temporary(entity, "new")
	saved, err := save(ctx, client, pb.ChangeKind_CHANGE_KIND_INSERT, object, pairs...)
	if err != nil {
		return nil, err
	}
	return saved.Inserted[0], nil
}

// students returns a fetch of students that match, or of columns: each name is followed by its
// term.
func students(format string, columns ...string) *pb.Query {
	fetch := &pb.FetchQuery{
		Entity: "Student", Predicate: term(format), Sort: []*pb.SortKey{{Term: term("name")}},
		Selection: pb.Selection_SELECTION_OBJECTS,
	}
	for index := 0; index < len(columns); index += 2 {
		fetch.Selection = pb.Selection_SELECTION_COLUMNS
		fetch.Columns = append(
			fetch.Columns, &pb.NamedTerm{Name: columns[index], Term: term(columns[index+1])})
	}
	return &pb.Query{Kind: &pb.Query_Fetch{Fetch: fetch}}
}

func term(format string) *pb.Term {
	return &pb.Term{Form: &pb.Term_Format{Format: format}}
}

// described returns one line with the changes of a transaction, each a run of consecutive keys.
func described(transaction *pb.HistoryTransaction) string {
	var parts []string
	for _, run := range transaction.Runs {
		kind := strings.TrimPrefix(run.Kind.String(), "HISTORY_CHANGE_KIND_")
		part := fmt.Sprintf("%s %s/p%d", strings.ToLower(kind), run.Entity, run.FirstKey)
		if run.LastKey > run.FirstKey {
			part += fmt.Sprintf("-p%d", run.LastKey)
		}
		if len(run.Properties) > 0 {
			part += fmt.Sprintf(" (%s)", strings.Join(run.Properties, ", "))
		}
		parts = append(parts, part)
	}
	return fmt.Sprintf("transaction %d: %s", transaction.Number, strings.Join(parts, "; "))
}

func objects(ctx context.Context, client *larder.Client) (*pb.Identifier, error) {
	ann, err := insert(ctx, client, "Student", "name", "Ann", "birthOfYear", 2001)
	if err != nil {
		return nil, err
	}
	fmt.Println("inserted", larder.URI(ann))
	rows, err := client.Get(ctx, ann)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		fmt.Printf("got %v, born in %v, version %d\n",
			row.Values["name"], row.Values["birthOfYear"], row.Version)
	}
	if _, err := insert(ctx, client, "Student", "name", "Cid", "birthOfYear", 2003); err != nil {
		return nil, err
	}
	// The set is built once, with its key.
	set, err := changeSet()
	if err != nil {
		return nil, err
	}
	course, bob := temporary("Course", "course"), temporary("Student", "bob")
	inserts := pb.ChangeKind_CHANGE_KIND_INSERT
	of := []*pb.Identifier{ann, bob}
	if err := add(set, inserts, course, "title", "Maths", "students", of); err != nil {
		return nil, err
	}
	if err := add(set, inserts, bob, "name", "Bob", "birthOfYear", 2002); err != nil {
		return nil, err
	}
	first, err := client.SaveRepeatedly(ctx, set)
	if err != nil {
		return nil, err
	}
	fmt.Printf("saved %d objects in transaction %d\n", len(first.Inserted), first.Transaction)
	again, err := client.SaveRepeatedly(ctx, set)
	if err != nil {
		return nil, err
	}
	reply := "another reply"
	if proto.Equal(first, again) {
		reply = "the same reply"
	}
	fmt.Println("sent again:", reply)
	return ann, nil
}

func queried(ctx context.Context, client *larder.Client) error {
	columns := students("birthOfYear >= %@ AND name != %@",
		"name", "name", "year", "birthOfYear", "course", "courses.@min.title")
	err := client.Query(ctx, columns, []any{2001, "Zoe"}, func(rows []larder.Row) error {
		for _, row := range rows {
			course := row.Values["course"]
			if course == nil {
				course = "none"
			}
			fmt.Printf("%v, born in %v, course: %v\n", row.Values["name"], row.Values["year"], course)
		}
		return nil
	})
	if err != nil {
		return err
	}
	// More students than fit into one reply.
	set, err := changeSet()
	if err != nil {
		return err
	}
	for n := 0; n < many; n++ {
		object := temporary("Student", fmt.Sprint(n))
		name := fmt.Sprintf("Student %04d of the school", n)
		err := add(set, pb.ChangeKind_CHANGE_KIND_INSERT, object,
			"name", name, "birthOfYear", 1900+n%100)
		if err != nil {
			return err
		}
	}
	if _, err := client.SaveRepeatedly(ctx, set); err != nil {
		return err
	}
	all := students("name BEGINSWITH %@")
	var names []any
	parts := 0
	err = client.Query(ctx, all, []any{"Student "}, func(rows []larder.Row) error {
		parts++
		for _, row := range rows {
			names = append(names, row.Values["name"])
		}
		return nil
	})
	if err != nil || len(names) == 0 {
		return err
	}
	several := "one part"
	if parts > 1 {
		several = "several parts"
	}
	fmt.Printf("fetched %d students in %s, from %v to %v\n",
		len(names), several, names[0], names[len(names)-1])
	err = client.Query(ctx, all, []any{"Student "}, func(rows []larder.Row) error {
		some := "all"
		if len(rows) < many {
			some = "some"
		}
		fmt.Printf("left a result after %s of its rows\n", some)
		return errLeft
	})
	if !errors.Is(err, errLeft) {
		return err
	}
	return nil
}

// expected prints an error of the server, and returns any other one.
func expected(err error) error {
	var failed *larder.Error
	if !errors.As(err, &failed) || failed.Reply == nil {
		return err
	}
	fmt.Println(failed)
	if failed.Hint != "" {
		fmt.Printf("  hint: %s\n", failed.Hint)
	}
	return nil
}

func refused(ctx context.Context, client *larder.Client) error {
	ignored := func([]larder.Row) error { return nil }
	err := client.Query(ctx, students("nam == %@"), []any{"Ann"}, ignored)
	if err := expected(err); err != nil {
		return err
	}
	_, err = insert(ctx, client, "Course", "title", "Maths")
	return expected(err)
}

// fed prints what has been committed since the start, and then what is committed now.
func fed(
	ctx context.Context, client *larder.Client, start *pb.HistoryToken, ann *pb.Identifier,
) error {
	err := client.Follow(ctx, start, followsTime, func(page larder.Page) error {
		for _, transaction := range page.Transactions {
			fmt.Println(described(transaction))
		}
		switch page.Position.Number - start.Number {
		case 4:
			update := pb.ChangeKind_CHANGE_KIND_UPDATE
			_, err := save(ctx, client, update, ann, "name", "Anna")
			return err
		case 5:
			return errLeft
		}
		return nil
	})
	if !errors.Is(err, errLeft) {
		return err
	}
	if _, err := save(ctx, client, pb.ChangeKind_CHANGE_KIND_DELETE, ann); err != nil {
		return err
	}
	rows, err := client.Get(ctx, ann)
	if err == nil {
		fmt.Printf("found %d objects after the deletion\n", len(rows))
	}
	return err
}

func tour(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), tourTime)
	defer cancel()
	client, err := larder.Connect(ctx, path, "tour")
	if err != nil {
		return err
	}
	defer client.Close()
	welcome := client.Welcome()
	fmt.Printf("connected: protocol %d, schema %s\n", welcome.ProtocolVersion, welcome.SchemaVersion)
	start, err := client.Now(ctx)
	if err != nil {
		return err
	}
	ann, err := objects(ctx, client)
	if err != nil {
		return err
	}
	if err := queried(ctx, client); err != nil {
		return err
	}
	if err := refused(ctx, client); err != nil {
		return err
	}
	return fed(ctx, client, start, ann)
}

func follow(path string) error {
	ctx := context.Background()
	client, err := larder.Connect(ctx, path, "tour")
	if err != nil {
		return err
	}
	defer client.Close()
	start, err := client.Now(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("following after transaction %d\n", start.Number)
	return client.Follow(ctx, start, followsTime, func(page larder.Page) error {
		for _, transaction := range page.Transactions {
			fmt.Println(described(transaction))
		}
		return nil
	})
}

func main() {
	var err error
	switch {
	case len(os.Args) == 2:
		err = tour(os.Args[1])
	case len(os.Args) == 3 && os.Args[2] == "follow":
		err = follow(os.Args[1])
	default:
		fmt.Fprintln(os.Stderr, "usage: tour SOCKET [follow]")
		os.Exit(64)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tour:", err)
		os.Exit(1)
	}
}
