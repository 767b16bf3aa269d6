package larder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	pb "larder/v1"
)

// The server of ../school.json at $LARDER_SOCKET has an empty store.
func connect(t *testing.T) (context.Context, *Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	client, err := Connect(ctx, os.Getenv("LARDER_SOCKET"), "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		cancel()
	})
	return ctx, client
}

func insertion(t *testing.T, count int, text string) *pb.ChangeSet {
	t.Helper()
	set := &pb.ChangeSet{IdempotencyKey: t.Name()}
	for n := 0; n < count; n++ {
		name, err := Value(fmt.Sprintf("%s %d", text, n))
		if err != nil {
			t.Fatal(err)
		}
		year, err := Value(2000)
		if err != nil {
			t.Fatal(err)
		}
		set.Changes = append(set.Changes, &pb.Change{
			Kind: pb.ChangeKind_CHANGE_KIND_INSERT,
			Object: &pb.Identifier{
				Entity: "Student",
				Name:   &pb.Identifier_TemporaryName{TemporaryName: fmt.Sprint(n)},
			},
			Values: []*pb.PropertyValue{
				{Name: "name", Value: name}, {Name: "birthOfYear", Value: year},
			},
		})
	}
	return set
}

func studentsNamed(text string) *pb.Query {
	return &pb.Query{Kind: &pb.Query_Fetch{Fetch: &pb.FetchQuery{
		Entity:    "Student",
		Predicate: &pb.Term{Form: &pb.Term_Format{Format: "name BEGINSWITH '" + text + "'"}},
		Selection: pb.Selection_SELECTION_OBJECTS,
	}}}
}

func countOf(ctx context.Context, client *Client, query *pb.Query) (count int, err error) {
	err = client.Query(ctx, query, nil, func(rows []Row) error {
		count += len(rows)
		return nil
	})
	return count, err
}

func TestMoreRequestsThanMayBeInFlight(t *testing.T) {
	ctx, client := connect(t)
	if _, err := client.Save(ctx, insertion(t, 500, strings.Repeat("many ", 20))); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for n := 0; n < 4*int(client.Welcome().RequestsInFlightMax); n++ {
		group.Add(1)
		go func() {
			defer group.Done()
			count, err := countOf(ctx, client, studentsNamed("many"))
			if err != nil || count != 500 {
				t.Errorf("found %d students, %v", count, err)
			}
		}()
	}
	group.Wait()
}

func TestEndsOfRequests(t *testing.T) {
	ctx, client := connect(t)
	if _, err := client.Save(ctx, insertion(t, 5_000, strings.Repeat("long ", 20))); err != nil {
		t.Fatal(err)
	}
	left := errors.New("left")
	for n := 0; n < 2*int(client.Welcome().RequestsInFlightMax); n++ {
		err := client.Query(ctx, studentsNamed("long"), nil, func([]Row) error { return left })
		if err != left {
			t.Fatalf("left early: %v", err)
		}
		short, cancel := context.WithCancel(ctx)
		err = client.Query(short, studentsNamed("long"), nil, func([]Row) error {
			cancel()
			return nil
		})
		if err != context.Canceled {
			t.Fatalf("cancelled: %v", err)
		}
	}
	past, cancel := context.WithDeadline(ctx, time.Now().Add(-time.Second))
	defer cancel()
	if _, err := client.Now(past); err != context.DeadlineExceeded {
		t.Errorf("after the deadline: %v", err)
	}
	if count, err := countOf(ctx, client, studentsNamed("long")); err != nil || count != 5_000 {
		t.Errorf("found %d students, %v", count, err)
	}
}

func TestRequestThatIsTooLong(t *testing.T) {
	ctx, client := connect(t)
	_, err := client.Save(ctx, insertion(t, 1, strings.Repeat("x", 17<<20)))
	var failed *Error
	if !errors.As(err, &failed) || failed.Code != pb.ErrorCode_ERROR_CODE_FRAME_TOO_LONG {
		t.Errorf("found %v", err)
	}
	if _, err := client.Now(ctx); err != nil {
		t.Errorf("the connection is not open: %v", err)
	}
}

func TestCloseEndsAFollower(t *testing.T) {
	ctx, client := connect(t)
	start, err := client.Now(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		ended <- client.Follow(ctx, start, time.Minute, func(Page) error {
			return client.Close()
		})
	}()
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("found %v", err)
	}
	if _, err := client.Now(ctx); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}
