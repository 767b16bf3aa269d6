// Package larder is the client of larderd, an object store for several processes on one machine.
//
//	store, err := larder.Connect(ctx, "/run/larder/school.sock", larder.Options{})
//	ann, err := store.Insert(ctx, "Student", larder.Values{"name": "Ann", "birthOfYear": 2001})
//	rows, err := store.Fetch(ctx, larder.From("Student").Where("birthOfYear > %@", 2000))
//
// Any number of goroutines may use a Client at the same time. Their requests share one connection
// and do not wait for each other's replies. A result that is read bit by bit (Rows, History, Live,
// Insertion) is for one goroutine at a time.
//
// The deadline of a context is the time limit of the call, also for the server; without one it is
// Options.RequestTimeout. The end of a context cancels the request. If the connection is lost,
// reads, writes that were not sent, and change sets with an idempotency key are sent again over a
// new one; see Options.ReconnectWait.
//
// Each error is an *Error. docs/go.md has an introduction.
package larder

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	pb "larder/internal/larderv1"
)

const protocolVersion = 1

// Options has the names that a client gives in the handshake, and its time limits. A zero value is
// the default.
type Options struct {
	// ClientName is the name of the program, for logs and the history; by default that of its file.
	ClientName string
	// Author is recorded in the history for writes without an author of their own.
	Author string
	// SchemaVersion and SchemaFingerprint are those of the schema that the program was built for.
	// After a migration that only adds to the schema, the client still gets this one; after another
	// one the error is SCHEMA_MISMATCH. Empty: the current schema.
	SchemaVersion, SchemaFingerprint string
	// MigrationSession is the key of the migration session to which the client belongs.
	MigrationSession string
	// ConnectTimeout is the time limit of connecting and the handshake; 5 s by default.
	ConnectTimeout time.Duration
	// RequestTimeout is the time limit of a call whose context has no deadline, or of each part of
	// a result that is read bit by bit; 30 s by default.
	RequestTimeout time.Duration
	// ReconnectWait is the time for which a call, a history or an observed query waits for a new
	// connection after a loss; 10 s by default. Negative: they never connect again.
	ReconnectWait time.Duration
}

func (o Options) withDefaults() Options {
	if o.ClientName == "" && len(os.Args) > 0 {
		o.ClientName = filepath.Base(os.Args[0])
	}
	if o.ConnectTimeout == 0 {
		o.ConnectTimeout = 5 * time.Second
	}
	if o.RequestTimeout == 0 {
		o.RequestTimeout = 30 * time.Second
	}
	if o.ReconnectWait == 0 {
		o.ReconnectWait = 10 * time.Second
	}
	return o
}

// Client is a connection to a store that larderd serves. It is safe for concurrent use.
type Client struct {
	path    string
	options Options
	// Held by the goroutine that connects again.
	connecting chan struct{}
	// Protects the fields below.
	mutex  sync.Mutex
	link   *link
	closed bool
}

// Connect opens a connection to the server at a socket's path. With an empty path it is the only
// socket in $XDG_RUNTIME_DIR/larder, or else in /run/larder. While the server is unavailable, as
// during a migration, it waits for at most Options.ConnectTimeout.
//
// The error is CONNECTION_FAILED if no server listens there; SCHEMA_MISMATCH, UNSUPPORTED_VERSION
// or RESOURCE_EXHAUSTED if the server refuses the connection.
func Connect(ctx context.Context, path string, options Options) (*Client, error) {
	if path == "" {
		var err *Error
		if path, err = onlySocket(); err != nil {
			return nil, err
		}
	}
	c := &Client{path: path, options: options.withDefaults(), connecting: make(chan struct{}, 1)}
	ctx, cancel := context.WithTimeout(ctx, c.options.ConnectTimeout)
	defer cancel()
	for pause := pauseMin; ; pause = longer(pause) {
		link, err := open(ctx, path, c.hello())
		if err == nil {
			c.link = link
			return c, nil
		}
		if err.Code != CodeUnavailable || !wait(ctx, pause) {
			return nil, err
		}
	}
}

// onlySocket returns the path of the only socket in the first standard folder that has one.
func onlySocket() (string, *Error) {
	folders := []string{"/run/larder"}
	if runtime := os.Getenv("XDG_RUNTIME_DIR"); runtime != "" {
		folders = append([]string{filepath.Join(runtime, "larder")}, folders...)
	}
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		var found []string
		for _, entry := range entries {
			if filepath.Ext(entry.Name()) == ".sock" {
				found = append(found, filepath.Join(folder, entry.Name()))
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			return "", newError(CodeConnectionFailed, "%s has several sockets; choose one", folder)
		}
	}
	return "", newError(CodeConnectionFailed, "no socket is given, and there is none in %v", folders)
}

func (c *Client) hello() *pb.Hello {
	return &pb.Hello{
		ProtocolVersion: protocolVersion, ClientName: c.options.ClientName,
		SchemaVersion:     c.options.SchemaVersion,
		SchemaFingerprint: c.options.SchemaFingerprint,
		MigrationSession:  c.options.MigrationSession,
	}
}

// Close ends the connection. Calls that wait fail with CONNECTION_FAILED, or with INDETERMINATE if
// they are writes that were sent. Later calls fail with CONNECTION_FAILED. It returns nil.
func (c *Client) Close() error {
	c.mutex.Lock()
	c.closed = true
	link := c.link
	c.mutex.Unlock()
	link.fail(closedError())
	return nil
}

// Server describes the server and the store of a connection.
type Server struct {
	// Name is the program of the server and its version, for people.
	Name string
	// Store is the UUID of the store.
	Store UUID
	// SchemaVersion and SchemaFingerprint are those of the schema that the connection has.
	SchemaVersion, SchemaFingerprint string
	// ReadOnly is whether the store rejects changes.
	ReadOnly bool
	// ProtocolVersion is that of the connection.
	ProtocolVersion int
	// RequestsInFlightMax is the maximum number of unanswered requests. Further ones wait.
	RequestsInFlightMax int
	// HistoryEpoch is the epoch of the store's history tokens.
	HistoryEpoch int64
}

// Server returns the description of the current connection, or of the last one.
func (c *Client) Server() Server {
	link := c.current()
	welcome := link.welcome
	return Server{
		Name: welcome.ServerName, Store: link.store, SchemaVersion: welcome.SchemaVersion,
		SchemaFingerprint: welcome.SchemaFingerprint, ReadOnly: welcome.ReadOnly,
		ProtocolVersion:     int(welcome.ProtocolVersion),
		RequestsInFlightMax: int(welcome.RequestsInFlightMax), HistoryEpoch: welcome.HistoryEpoch,
	}
}

func (c *Client) current() *link {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.link
}

// connection returns an open connection. After a loss it connects again, repeatedly until the
// deadline, or for Options.ReconnectWait if that is zero.
func (c *Client) connection(ctx context.Context, deadline time.Time) (*link, *Error) {
	link := c.current()
	if link.failed() == nil {
		return link, nil
	}
	select {
	case c.connecting <- struct{}{}:
		defer func() { <-c.connecting }()
	case <-ctx.Done():
		return nil, unsent(endOf(ctx))
	}
	link = c.current()
	failure := link.failed()
	if failure == nil {
		return link, nil
	}
	if failure.cause == errClosed || c.options.ReconnectWait < 0 {
		return nil, unsent(failure)
	}
	if deadline.IsZero() {
		deadline = time.Now().Add(c.options.ReconnectWait)
	}
	for pause := pauseMin; ; pause = longer(pause) {
		link, err := c.reopen(ctx)
		if err == nil {
			return link, nil
		}
		isFinal := !err.isLost() && err.Code != CodeTimeout
		if isFinal || time.Now().Add(pause).After(deadline) {
			return nil, unsent(err)
		}
		if !wait(ctx, pause) {
			return nil, endAfter(ctx, failure)
		}
	}
}

func (c *Client) reopen(ctx context.Context) (*link, *Error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.ConnectTimeout)
	defer cancel()
	c.mutex.Lock()
	isClosed := c.closed
	c.mutex.Unlock()
	if isClosed {
		return nil, closedError()
	}
	link, err := open(ctx, c.path, c.hello())
	if err == nil {
		err = c.use(link)
	}
	return link, err
}

// use makes a connection the current one, unless the client was closed in the meantime.
func (c *Client) use(link *link) *Error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.closed {
		link.fail(closedError())
		return closedError()
	}
	c.link = link
	return nil
}
