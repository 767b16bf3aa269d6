package larder

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// testServer is a larderd of its own, with the schema testdata/schema.json.
type testServer struct {
	socket    string
	arguments []string
	// Ends the running server.
	kill func()
}

// newServer starts a server whose store is in memory, or in a file if it has to be started again.
func newServer(t *testing.T, isInFile bool) *testServer {
	t.Helper()
	if _, err := exec.LookPath("larderd"); err != nil {
		t.Skip("larderd is not installed")
	}
	// The path of a socket is short.
	folder, err := os.MkdirTemp("", "larder")
	if err != nil {
		t.Fatal(err)
	}
	s := &testServer{socket: filepath.Join(folder, "s.sock"), kill: func() {}}
	s.arguments = []string{"--in-memory", "--schema", "testdata/schema.json", "--socket", s.socket}
	if isInFile {
		store := []string{"--store", filepath.Join(folder, "test.store")}
		s.arguments = append(store, s.arguments[1:]...)
	}
	t.Cleanup(func() {
		s.kill()
		os.RemoveAll(folder)
	})
	s.start(t)
	return s
}

func (s *testServer) start(t *testing.T) {
	t.Helper()
	command := exec.Command("larderd", s.arguments...)
	var log bytes.Buffer
	command.Stderr = &log
	command.Env = append(os.Environ(), "SWIFT_BACKTRACE=enable=no")
	must(t, command.Start())
	exited := make(chan struct{})
	go func() {
		command.Wait()
		close(exited)
	}()
	s.kill = func() {
		command.Process.Kill()
		<-exited
	}
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); {
		client, err := Connect(context.Background(), s.socket, Options{})
		if err == nil {
			client.Close()
			return
		}
		select {
		case <-exited:
			t.Fatalf("larderd ended: %s", log.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Fatal("larderd does not answer")
}

// connect returns a client of a server, and a context that ends with the test.
func connect(t *testing.T, s *testServer, options Options) (context.Context, *Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	client, err := Connect(ctx, s.socket, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		cancel()
	})
	return ctx, client
}

// serve starts a server and returns a client of it.
func serve(t *testing.T) (context.Context, *Client) {
	t.Helper()
	return connect(t, newServer(t, false), Options{ClientName: "go test", Author: "tester"})
}

// must ends the test by an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// expect checks that an error is another one, as errors.Is tests it.
func expect(t *testing.T, err error, wanted ...error) {
	t.Helper()
	if failed := (*Error)(nil); !errors.As(err, &failed) {
		t.Fatalf("found %v, which is no *Error", err)
	}
	for _, each := range wanted {
		if !errors.Is(err, each) {
			t.Fatalf("found %v, expected %v", err, each)
		}
	}
}

// insertPeople inserts people with a name that begins with the text.
func insertPeople(t *testing.T, ctx context.Context, client *Client, count int, text string) {
	t.Helper()
	insertion, err := client.InsertMany(ctx, "Person", []string{"name"}, InsertOptions{})
	must(t, err)
	defer insertion.Close()
	for n := 0; n < count; n++ {
		must(t, insertion.Add(text))
	}
	stored, err := insertion.Finish()
	must(t, err)
	if stored != int64(count) {
		t.Fatalf("stored %d people", stored)
	}
}
