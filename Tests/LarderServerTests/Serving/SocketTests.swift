import Testing

/// Tests with real sockets and threads, one after another: they block while they wait.
@Suite("A server over sockets", .serialized)
enum SocketTests {}
