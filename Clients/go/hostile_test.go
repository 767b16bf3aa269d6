package larder

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	pb "larder/internal/larderv1"
)

func isSave(request *pb.Envelope) bool  { return request.GetSave() != nil }
func isQuery(request *pb.Envelope) bool { return request.GetQuery() != nil }

var once = Options{ReconnectWait: -1}

func TestFramesThatViolateTheProtocolEndTheConnection(t *testing.T) {
	cases := []struct {
		name  string
		code  Code
		reply func(*fakeConnection, *pb.Envelope)
	}{
		{"too long", CodeFrameTooLong, func(c *fakeConnection, _ *pb.Envelope) {
			c.Write([]byte{1, 0, 0, 1, 8, 2})
		}},
		{"4 GiB", CodeFrameTooLong, func(c *fakeConnection, _ *pb.Envelope) {
			c.Write([]byte{0xff, 0xff, 0xff, 0xff, 8, 2})
		}},
		{"cut", CodeConnectionFailed, func(c *fakeConnection, _ *pb.Envelope) {
			c.Write([]byte{0, 0, 0, 9, 8, 2})
			c.Close()
		}},
		{"nonsense", CodeMalformedFrame, func(c *fakeConnection, _ *pb.Envelope) {
			c.Write([]byte{0, 0, 0, 2, 0xff, 0xff})
		}},
		{"empty", CodeUnknownMessage, func(c *fakeConnection, _ *pb.Envelope) {
			c.Write([]byte{0, 0, 0, 0})
		}},
		{"unknown id", CodeMalformedMessage, func(c *fakeConnection, r *pb.Envelope) {
			c.batches(r.Id+1, false, batchOf(1))
		}},
		{"another reply", CodeMalformedMessage, func(c *fakeConnection, r *pb.Envelope) {
			c.send(&pb.Envelope{Id: r.Id, Body: &pb.Envelope_Pong{Pong: &pb.PongReply{}}})
		}},
		{"no batch", CodeMalformedMessage, func(c *fakeConnection, r *pb.Envelope) {
			c.batches(r.Id, false)
		}},
		{"rows without columns", CodeMalformedMessage, func(c *fakeConnection, r *pb.Envelope) {
			c.batches(r.Id, false, &pb.Batch{RowCount: 1<<32 - 1})
		}},
		{"more than its credit", CodeMalformedMessage, func(c *fakeConnection, r *pb.Envelope) {
			for n := 0; n < 100; n++ {
				c.batches(r.Id, true, batchOf(1))
			}
		}},
		{"an error without a request", CodePermissionDenied,
			func(c *fakeConnection, r *pb.Envelope) { c.fail(0, CodePermissionDenied) }},
	}
	for _, each := range cases {
		server := newFake(t, each.reply)
		ctx, client := connectTo(t, server, once)
		rows, err := client.Stream(ctx, From("Person"))
		if err == nil {
			<-client.current().done
			for rows.Next() {
			}
			err = rows.Err()
		}
		if !errors.Is(err, each.code) {
			t.Errorf("%s: found %v", each.name, err)
		}
		if _, err := client.Fetch(ctx, From("Person")); err == nil {
			t.Errorf("%s: the connection is open", each.name)
		}
	}
}

func TestWelcomesThatAreNotValid(t *testing.T) {
	changes := map[Code]func(*pb.Envelope){
		CodeUnsupportedVersion: func(e *pb.Envelope) { e.GetWelcome().ProtocolVersion = 2 },
		CodeMalformedMessage:   func(e *pb.Envelope) { e.GetWelcome().Store = []byte{1} },
		CodeSchemaMismatch: func(e *pb.Envelope) {
			failed := &pb.ErrorReply{Code: uint32(CodeSchemaMismatch)}
			e.Body = &pb.Envelope_Failed{Failed: failed}
		},
		CodeFrameTooLong: func(e *pb.Envelope) {
			e.GetWelcome().ServerName = string(make([]byte, handshakeBytesMax))
		},
	}
	for code, change := range changes {
		server := newFake(t, nil)
		change(server.welcome)
		_, err := Connect(context.Background(), server.path(), Options{})
		expect(t, err, code)
	}
}

func TestWithoutAPathTheOnlySocketIsUsed(t *testing.T) {
	server := newFake(t, func(c *fakeConnection, request *pb.Envelope) {
		c.send(&pb.Envelope{Id: request.Id, Body: &pb.Envelope_Pong{Pong: &pb.PongReply{}}})
	})
	runtime := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	must(t, os.Mkdir(filepath.Join(runtime, "larder"), 0o700))
	must(t, os.Symlink(server.path(), filepath.Join(runtime, "larder", "a.sock")))
	client, err := Connect(context.Background(), "", Options{})
	must(t, err)
	must(t, client.Ping(context.Background()))
	must(t, client.Close())
	must(t, os.Symlink(server.path(), filepath.Join(runtime, "larder", "b.sock")))
	_, err = Connect(context.Background(), "", Options{})
	expect(t, err, CodeConnectionFailed)
}

func TestAServerThatDoesNotReplyIsATimeout(t *testing.T) {
	server := newFake(t, func(*fakeConnection, *pb.Envelope) {})
	options := Options{RequestTimeout: 50 * time.Millisecond}
	ctx, client := connectTo(t, server, options)
	// The time limit of the client is used without a deadline, and that of each reply of a stream.
	_, err := client.Fetch(context.Background(), From("Person"))
	expect(t, err, CodeTimeout, context.DeadlineExceeded)
	_, err = client.Stream(context.Background(), From("Person"))
	expect(t, err, CodeTimeout)
	// Cancelled requests have no reply either, so no further one fits.
	_, err = client.Stream(context.Background(), From("Person"))
	expect(t, err, CodeTimeout)
	_, err = client.Stream(context.Background(), From("Person"))
	expect(t, err, CodeTimeout)
	if count := server.count(isQuery); count > 3 {
		t.Errorf("the server received %d requests in flight", count)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = client.Get(cancelled, of("Person", 1))
	expect(t, err, CodeCancelled, context.Canceled)
}

func TestAServerThatIgnoresACancelledRequestLosesItsConnection(t *testing.T) {
	received := make(chan bool, 1)
	server := newFake(t, func(c *fakeConnection, request *pb.Envelope) {
		if c.number > 1 {
			c.batches(request.Id, false, batchOf(1))
		} else if isQuery(request) {
			received <- true
		}
	})
	ctx, client := connectTo(t, server, Options{})
	client.current().cancelTimeout = 20 * time.Millisecond
	short, cancel := context.WithCancel(ctx)
	go func() {
		<-received
		cancel()
	}()
	_, err := client.Fetch(short, From("Person"))
	expect(t, err, CodeCancelled)
	<-client.current().done
	_, err = client.Fetch(ctx, From("Person"))
	must(t, err)
}

func TestATimeoutOfTheServerIsThatOfTheContext(t *testing.T) {
	server := newFake(t, func(c *fakeConnection, request *pb.Envelope) {
		if left := request.TimeoutMilliseconds; left < 5_000 || left > 19_500 {
			t.Errorf("the server has %d ms", left)
		}
		c.fail(request.Id, CodeTimeout)
	})
	ctx, client := connectTo(t, server, Options{})
	_, err := client.Insert(ctx, "Person", nil)
	expect(t, err, CodeTimeout, ErrUnavailable, context.DeadlineExceeded)
}

func TestARequestHasTheTraceOfItsContext(t *testing.T) {
	var traces []string
	server := newFake(t, func(c *fakeConnection, request *pb.Envelope) {
		traces = append(traces, request.Trace)
		c.fail(request.Id, CodeUnknownEntity)
	})
	ctx, client := connectTo(t, server, Options{})
	_, err := client.Insert(WithTrace(ctx, "00-1f-2e-01"), "Person", nil)
	expect(t, err, CodeUnknownEntity)
	_, err = client.Insert(ctx, "Person", nil)
	expect(t, err, CodeUnknownEntity)
	if len(traces) != 2 || traces[0] != "00-1f-2e-01" || traces[1] != "" {
		t.Errorf("the server has the traces %v", traces)
	}
}

func TestAHandshakeEndsWithItsContext(t *testing.T) {
	server := newFake(t, nil)
	// The connection is made, and nobody accepts it.
	server.listener.(interface{ SetDeadline(time.Time) error }).SetDeadline(time.Now())
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := Connect(ctx, server.path(), Options{})
	expect(t, err, CodeTimeout, context.DeadlineExceeded)
}

func savedReply(id uint64) *pb.Envelope {
	saved := &pb.SaveReply{Inserted: []*pb.Identifier{of("Person", 1).message()}, Transaction: 1}
	return &pb.Envelope{Id: id, Body: &pb.Envelope_Saved{Saved: saved}}
}

func TestRepliesToASetThatDoNotFitToIt(t *testing.T) {
	damages := []func(*pb.SaveReply){
		func(s *pb.SaveReply) { s.Inserted = nil },
		func(s *pb.SaveReply) { s.Inserted = append(s.Inserted, s.Inserted...) },
		func(s *pb.SaveReply) { s.Inserted[0].Name = nil },
		func(s *pb.SaveReply) { s.Upserted = []uint32{1} },
		func(s *pb.SaveReply) { s.Merged = []uint32{1<<32 - 1} },
		func(s *pb.SaveReply) { s.UpdatedVersions = []int64{1} },
		func(s *pb.SaveReply) { s.Affected = []*pb.AffectedObjects{{}} },
		func(s *pb.SaveReply) { s.More = true },
	}
	for index, damage := range damages {
		damage := damage
		server := newFake(t, func(c *fakeConnection, request *pb.Envelope) {
			reply := savedReply(request.Id)
			damage(reply.GetSaved())
			c.send(reply)
		})
		ctx, client := connectTo(t, server, once)
		if _, err := client.Insert(ctx, "Person", nil); !errors.Is(err, CodeIndeterminate) {
			t.Errorf("damage %d: found %v", index, err)
		}
	}
}

func TestAnObservedResultThatDoesNotFitIsAnError(t *testing.T) {
	replies := map[string][]*pb.ObserveReply{
		"a change first":     {{Deleted: []uint32{0}}},
		"an unknown index":   {whole(1, 2), {Deleted: []uint32{2}}},
		"deleted twice":      {whole(1, 2), {Deleted: []uint32{1, 1}}},
		"no indexes":         {whole(1), {Rows: []*pb.Batch{batchOf(2)}}},
		"a wrong new index":  {whole(1), placed(batchOf(2), 5, 0)},
		"a wrong old index":  {whole(1), placed(batchOf(2), 0, 3)},
		"an index of 2^32-1": {whole(1), placed(batchOf(2), 1<<32-1, 1<<32-1)},
		"two batches":        {{Begins: true, Ends: true, Rows: []*pb.Batch{batchOf(1), batchOf(2)}}},
		"no version": {{Begins: true, Ends: true, Rows: []*pb.Batch{{
			RowCount: 1, Identity: &pb.Identity{Entity: "A", Keys: []int64{1}},
		}}}},
	}
	for name, list := range replies {
		list := list
		server := newFake(t, func(c *fakeConnection, request *pb.Envelope) {
			for _, reply := range list {
				c.observed(request.Id, reply)
			}
		})
		ctx, client := connectTo(t, server, once)
		live, err := client.Observe(ctx, From("Person"), ObserveOptions{})
		must(t, err)
		for live.Next() {
		}
		if err := live.Err(); !errors.Is(err, CodeMalformedMessage) {
			t.Errorf("%s: found %v", name, err)
		}
	}
}

func whole(keys ...int64) *pb.ObserveReply {
	return &pb.ObserveReply{Begins: true, Ends: true, Rows: []*pb.Batch{batchOf(keys...)}}
}

func TestSectionsThatDoNotFitToTheRowsAreErrors(t *testing.T) {
	column := &pb.Column{
		Name: "section", Type: pb.ColumnType_COLUMN_TYPE_INT64, Integers: []int64{1},
	}
	sections := map[string]*pb.Batch{
		"none": nil, "too few": {RowCount: 1, Columns: []*pb.Column{column}},
		"no column": batchOf(1, 2),
	}
	for name, batch := range sections {
		batch := batch
		server := newFake(t, func(c *fakeConnection, request *pb.Envelope) {
			reply := whole(1, 2)
			reply.Sections = batch
			c.observed(request.Id, reply)
		})
		ctx, client := connectTo(t, server, once)
		options := ObserveOptions{Section: SortKey{Expression: "year"}}
		live, err := client.Observe(ctx, From("Person"), options)
		must(t, err)
		if live.Next() || !errors.Is(live.Err(), CodeMalformedMessage) {
			t.Errorf("%s: found %v", name, live.Err())
		}
	}
}

func placed(batch *pb.Batch, newIndex, oldIndex uint32) *pb.ObserveReply {
	return &pb.ObserveReply{
		Rows: []*pb.Batch{batch}, NewIndexes: []uint32{newIndex}, OldIndexes: []uint32{oldIndex},
		Moved: []bool{false},
	}
}

func TestAResultWithoutAnEndIsAnError(t *testing.T) {
	text := &pb.Column{
		Name: "name", Type: pb.ColumnType_COLUMN_TYPE_STRING, Heap: make([]byte, 4<<20),
		Ends: []uint32{4 << 20},
	}
	server := newFake(t, func(c *fakeConnection, request *pb.Envelope) {
		if request.GetCancel() != nil {
			return
		}
		batch := batchOf(1)
		batch.Columns = []*pb.Column{text}
		for n := 0; n < followWindow && request.GetObserve() != nil; n++ {
			c.observed(request.Id, &pb.ObserveReply{Begins: n == 0, Rows: []*pb.Batch{batch}})
		}
	})
	ctx, client := connectTo(t, server, once)
	live, err := client.Observe(ctx, From("Person"), ObserveOptions{})
	must(t, err)
	if live.Next() {
		t.Error(len(live.Result().Rows))
	}
	expect(t, live.Err(), CodeMalformedMessage)
}

func TestAHistoryThatIsNotValidIsAnError(t *testing.T) {
	token := &pb.HistoryToken{Store: testStore[:], Number: 1}
	run := &pb.HistoryRun{Kind: 1, Entity: "A", FirstKey: 2, LastKey: 1}
	deleted := &pb.HistoryTombstone{Values: []*pb.PreservedValue{{Name: "a"}}}
	replies := map[string]*pb.HistoryReply{
		"no position": {},
		"no store":    {Position: &pb.HistoryToken{}},
		"a date": {Position: token, Transactions: []*pb.HistoryTransaction{
			{Number: 1, Time: 1e300},
		}},
		"the number": {Position: token, Transactions: []*pb.HistoryTransaction{{}}},
		"a run": {Position: token, Transactions: []*pb.HistoryTransaction{
			{Number: 1, Runs: []*pb.HistoryRun{run}},
		}},
		"a value": {Position: token, Transactions: []*pb.HistoryTransaction{
			{Number: 1, Tombstones: []*pb.HistoryTombstone{deleted}},
		}},
	}
	for name, reply := range replies {
		reply := reply
		server := newFake(t, func(c *fakeConnection, request *pb.Envelope) {
			c.send(&pb.Envelope{
				Id: request.Id, Body: &pb.Envelope_Transactions{Transactions: reply},
			})
		})
		ctx, client := connectTo(t, server, once)
		history, err := client.History(ctx, HistoryRequest{})
		must(t, err)
		if history.Next() || !errors.Is(history.Err(), CodeMalformedMessage) {
			t.Errorf("%s: found %v", name, history.Err())
		}
	}
}

// No goroutine is left after a client was closed, whatever was under way.
func TestCloseEndsAllGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	func() {
		server := newFake(t, func(*fakeConnection, *pb.Envelope) {})
		defer server.listener.Close()
		client, err := Connect(context.Background(), server.path(), once)
		must(t, err)
		for n := 0; n < 3; n++ {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
			_, err := client.Fetch(ctx, From("Person"))
			expect(t, err, CodeTimeout)
			cancel()
		}
		must(t, client.Close())
		must(t, client.Close())
	}()
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("goroutines:\n%s", stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(time.Millisecond)
	}
}
