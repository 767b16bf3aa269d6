package larder

import (
	"context"
	"net"
	"testing"
	"time"

	pb "larder/internal/larderv1"
)

func TestAWriteWithoutAKeyIsNotSentTwice(t *testing.T) {
	server := newFake(t, func(c *fakeConnection, _ *pb.Envelope) { c.Close() })
	ctx, client := connectTo(t, server, Options{})
	_, err := client.Insert(ctx, "Person", Values{"name": "Ann"})
	expect(t, err, CodeIndeterminate, ErrConnection)
	if count := server.count(isSave); count != 1 {
		t.Errorf("the set was sent %d times", count)
	}
	// The next call uses a new connection.
	_, err = client.Insert(ctx, "Person", nil)
	expect(t, err, CodeIndeterminate)
}

func TestAWriteWithAKeyIsSentAgain(t *testing.T) {
	server := newFake(t, func(c *fakeConnection, request *pb.Envelope) {
		switch c.number {
		case 1:
			c.Close()
		case 2:
			c.fail(request.Id, CodeUnavailable)
			c.Close()
		default:
			c.send(savedReply(request.Id))
		}
	})
	ctx, client := connectTo(t, server, Options{})
	set := &ChangeSet{IdempotencyKey: NewKey()}
	ann := set.Insert("Person", Values{"name": "Ann", "year": 1})
	saved, err := client.Save(ctx, set)
	must(t, err)
	if saved.Identifier(ann) != of("Person", 1) || saved.Identifier(of("A", 9)) != of("A", 9) {
		t.Error(saved)
	}
	if count := server.count(isSave); count != 3 {
		t.Errorf("the set was sent %d times", count)
	}
	for _, request := range server.requests[1:] {
		if string(marshalled(t, request.GetSave())) !=
			string(marshalled(t, server.requests[0].GetSave())) {
			t.Error("another set was sent")
		}
	}
}

func TestAWriteThatAnUnavailableServerRefusedIsSentAgain(t *testing.T) {
	server := newFake(t, func(c *fakeConnection, request *pb.Envelope) {
		if c.number == 1 {
			// The server stops: requests without a reply were not executed.
			c.fail(0, CodeUnavailable)
			return
		}
		c.send(savedReply(request.Id))
	})
	ctx, client := connectTo(t, server, Options{})
	_, err := client.Insert(ctx, "Person", nil)
	must(t, err)
}

func TestAnErrorAfterALostReplySaysWhetherTheWriteRan(t *testing.T) {
	for code, wanted := range map[Code]Code{
		CodeValidationFailed: CodeValidationFailed, CodeTimeout: CodeIndeterminate,
	} {
		code := code
		server := newFake(t, func(c *fakeConnection, request *pb.Envelope) {
			if c.number == 1 {
				c.Close()
			} else {
				c.fail(request.Id, code)
			}
		})
		ctx, client := connectTo(t, server, Options{})
		_, err := client.Save(ctx, &ChangeSet{IdempotencyKey: NewKey()})
		expect(t, err, wanted)
	}
}

func TestACancelledWriteIsIndeterminate(t *testing.T) {
	received := make(chan bool, 1)
	server := newFake(t, func(_ *fakeConnection, request *pb.Envelope) {
		if isSave(request) {
			received <- true
		}
	})
	ctx, client := connectTo(t, server, Options{})
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		<-received
		cancel()
	}()
	_, err := client.Insert(ctx, "Person", nil)
	expect(t, err, CodeIndeterminate, context.Canceled)
}

func TestAReadIsRepeatedOverANewConnection(t *testing.T) {
	server := newFake(t, func(c *fakeConnection, request *pb.Envelope) {
		if c.number == 1 {
			c.batches(request.Id, true, batchOf(1, 2))
			c.Close()
			return
		}
		c.batches(request.Id, false, batchOf(1, 2, 3))
	})
	ctx, client := connectTo(t, server, Options{})
	rows, err := client.Fetch(ctx, From("Person"))
	if err != nil || len(rows) != 3 {
		t.Error(rows, err)
	}
	if failed := client.current().failed(); failed != nil {
		t.Error(failed)
	}
}

func TestAServerThatDoesNotComeBackIsAnErrorInTime(t *testing.T) {
	server := newFake(t, func(c *fakeConnection, _ *pb.Envelope) {
		c.server.listener.Close()
		c.Close()
	})
	ctx, client := connectTo(t, server, Options{ReconnectWait: 100 * time.Millisecond})
	start := time.Now()
	_, err := client.Fetch(ctx, From("Person"))
	expect(t, err, CodeConnectionFailed, ErrConnection)
	if time.Since(start) > 5*time.Second {
		t.Error("it waited too long")
	}
	must(t, client.Close())
	_, err = client.Fetch(ctx, From("Person"))
	expect(t, err, CodeConnectionFailed, net.ErrClosed)
}

func TestAContextEndsTheWaitForANewConnection(t *testing.T) {
	server := newFake(t, func(c *fakeConnection, _ *pb.Envelope) {
		c.server.listener.Close()
		c.Close()
	})
	ctx, client := connectTo(t, server, Options{ReconnectWait: time.Hour})
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	_, err := client.Fetch(short, From("Person"))
	expect(t, err, CodeTimeout, context.DeadlineExceeded)
	live, err := client.Observe(short, From("Person"), ObserveOptions{})
	must(t, err)
	if live.Next() {
		t.Error(live.Result())
	}
	expect(t, live.Err(), context.DeadlineExceeded)
	// The first attempt may have been executed.
	ctx, client = connectTo(t, newFake(t, server.reply), Options{ReconnectWait: time.Hour})
	short, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	_, err = client.Save(short, &ChangeSet{IdempotencyKey: NewKey()})
	expect(t, err, CodeIndeterminate, context.DeadlineExceeded)
}

func TestASchemaMismatchOfANewConnectionDoesNotSayThatAWriteWasNotExecuted(t *testing.T) {
	server := newFake(t, nil)
	server.reply = func(c *fakeConnection, _ *pb.Envelope) {
		failed := &pb.ErrorReply{Code: uint32(CodeSchemaMismatch)}
		server.mutex.Lock()
		server.welcome = &pb.Envelope{Id: 1, Body: &pb.Envelope_Failed{Failed: failed}}
		server.mutex.Unlock()
		c.Close()
	}
	ctx, client := connectTo(t, server, Options{})
	_, err := client.Save(ctx, &ChangeSet{IdempotencyKey: NewKey()})
	expect(t, err, CodeIndeterminate)
}
