// A tour of the client: tour SOCKET [follow].
//
// The server must have the schema ../../school.json, and an empty store for the whole tour. With
// `follow` it prints each transaction after the current one, until there is no server for 5
// seconds.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"larder"
)

const (
	many        = 3_000
	tourTime    = 60 * time.Second
	followsTime = 5 * time.Second
)

// described returns one line with the changes of a transaction.
func described(transaction larder.Transaction) string {
	var parts []string
	for _, run := range transaction.Runs {
		part := fmt.Sprintf("%s %s/p%d", run.Kind, run.Entity, run.FirstKey)
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

func objects(ctx context.Context, store *larder.Client) (larder.Identifier, error) {
	ann, err := store.Insert(ctx, "Student", larder.Values{"name": "Ann", "birthOfYear": 2001})
	if err != nil {
		return ann, err
	}
	fmt.Println("inserted", ann)
	row, err := store.Get(ctx, ann)
	if err != nil {
		return ann, err
	}
	fmt.Printf("got %v, born in %v, version %d\n",
		row.Value("name"), row.Value("birthOfYear"), row.Version)
	cid := larder.Values{"name": "Cid", "birthOfYear": 2003}
	if _, err := store.Insert(ctx, "Student", cid); err != nil {
		return ann, err
	}
	// The set is built once, with its key.
	set := &larder.ChangeSet{IdempotencyKey: larder.NewKey(), Author: "tour"}
	course := set.Insert("Course", larder.Values{"title": "Maths"})
	bob := set.Insert("Student", larder.Values{
		"name": "Bob", "birthOfYear": 2002, "courses": []larder.Identifier{course},
	})
	set.Update(ann, nil).Add("courses", course)
	first, err := store.Save(ctx, set)
	if err != nil {
		return ann, err
	}
	fmt.Printf("saved %d objects in transaction %d\n", len(first.Inserted), first.Transaction)
	again, err := store.Save(ctx, set)
	if err != nil {
		return ann, err
	}
	reply := "another reply"
	if reflect.DeepEqual(first, again) && first.Identifier(bob) == again.Inserted[1] {
		reply = "the same reply"
	}
	fmt.Println("sent again:", reply)
	return ann, nil
}

// student is a row of a query: the tags are its columns.
type student struct {
	Name   string  `larder:"name"`
	Year   int     `larder:"birthOfYear"`
	Course *string `larder:"courses.@min.title"`
}

func queried(ctx context.Context, store *larder.Client) error {
	query := larder.From("Student").Where("birthOfYear >= %@ AND name != %@", 2001, "Zoe")
	students, err := larder.FetchAs[student](ctx, store, query.SortBy("name"))
	if err != nil {
		return err
	}
	for _, each := range students {
		course := "none"
		if each.Course != nil {
			course = *each.Course
		}
		fmt.Printf("%s, born in %d, course: %s\n", each.Name, each.Year, course)
	}
	return streamed(ctx, store)
}

// streamed inserts and reads more students than fit into one reply.
func streamed(ctx context.Context, store *larder.Client) error {
	options := larder.InsertOptions{Atomic: true, Author: "tour"}
	names := []string{"name", "birthOfYear"}
	insertion, err := store.InsertMany(ctx, "Student", names, options)
	if err != nil {
		return err
	}
	defer insertion.Close()
	for n := 0; n < many; n++ {
		err := insertion.Add(fmt.Sprintf("Student %04d of the school", n), 1900+n%100)
		if err != nil {
			return err
		}
	}
	if _, err := insertion.Finish(); err != nil {
		return err
	}
	all := larder.From("Student").Where("name BEGINSWITH %@", "Student ").SortBy("name")
	rows, err := store.Fetch(ctx, all)
	if err != nil || len(rows) == 0 {
		return err
	}
	// They arrive in several parts, because a reply has about 64 KiB.
	fmt.Printf("fetched %d students in several parts, from %v to %v\n",
		len(rows), rows[0].Value("name"), rows[len(rows)-1].Value("name"))
	stream, err := store.Stream(ctx, all)
	if err != nil {
		return err
	}
	count := 0
	for count < many/10 && stream.Next() {
		count++
	}
	some := "some"
	if count == many {
		some = "all"
	}
	fmt.Printf("left a result after %s of its rows\n", some)
	stream.Close()
	return stream.Err()
}

// expected prints an error of the kind ErrInvalid, and returns any other one.
func expected(err error) error {
	var failed *larder.Error
	if !errors.As(err, &failed) || !errors.Is(err, larder.ErrInvalid) {
		return err
	}
	fmt.Println(failed)
	if failed.Hint != "" {
		fmt.Printf("  hint: %s\n", failed.Hint)
	}
	return nil
}

func refused(ctx context.Context, store *larder.Client) error {
	_, err := store.Fetch(ctx, larder.From("Student").Where("nam == %@", "Ann"))
	if err := expected(err); err != nil {
		return err
	}
	_, err = store.Insert(ctx, "Course", larder.Values{"title": "Maths"})
	return expected(err)
}

// fed prints what has been committed since the start, and then what is committed now.
func fed(
	ctx context.Context, store *larder.Client, start larder.Token, ann larder.Identifier,
) error {
	history, err := store.Follow(ctx, larder.HistoryRequest{After: start})
	if err != nil {
		return err
	}
	defer history.Close()
	for history.Next() {
		fmt.Println(described(history.Transaction()))
		count := history.Position().Number - start.Number
		if count == 5 {
			break
		}
		if count < 4 {
			continue
		}
		if _, err := store.Update(ctx, ann, larder.Values{"name": "Anna"}); err != nil {
			return err
		}
	}
	if err := history.Err(); err != nil {
		return err
	}
	if err := store.Delete(ctx, ann); err != nil {
		return err
	}
	rows, err := store.GetAll(ctx, ann)
	if err == nil {
		fmt.Printf("found %d objects after the deletion\n", len(rows))
	}
	return err
}

func tour(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), tourTime)
	defer cancel()
	store, err := larder.Connect(ctx, path, larder.Options{ClientName: "tour"})
	if err != nil {
		return err
	}
	defer store.Close()
	server := store.Server()
	fmt.Printf("connected: protocol %d, schema %s\n", server.ProtocolVersion, server.SchemaVersion)
	start, err := store.CurrentToken(ctx)
	if err != nil {
		return err
	}
	ann, err := objects(ctx, store)
	if err != nil {
		return err
	}
	if err := queried(ctx, store); err != nil {
		return err
	}
	if err := refused(ctx, store); err != nil {
		return err
	}
	return fed(ctx, store, start, ann)
}

func follow(path string) error {
	ctx := context.Background()
	options := larder.Options{ClientName: "tour", ReconnectWait: followsTime}
	store, err := larder.Connect(ctx, path, options)
	if err != nil {
		return err
	}
	defer store.Close()
	start, err := store.CurrentToken(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("following after transaction %d\n", start.Number)
	history, err := store.Follow(ctx, larder.HistoryRequest{After: start})
	if err != nil {
		return err
	}
	defer history.Close()
	for history.Next() {
		fmt.Println(described(history.Transaction()))
	}
	return history.Err()
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
