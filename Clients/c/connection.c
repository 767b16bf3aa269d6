#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "internal.h"

enum { HANDSHAKE_MILLISECONDS = 10000, DEFAULT_MILLISECONDS = 10000 };

// Ends

void larder_disconnect(larder_client *client, const larder_error *reason) {
    if (client->socket >= 0) close(client->socket);
    client->socket = -1;
    client->error = *reason;
    client->generation++;
    free(client->input);
    client->input = NULL;
    client->input_count = 0;
    while (client->streams) {
        Stream *stream = client->streams;
        client->streams = stream->next;
        stream->client = NULL;
        stream->is_lost = true;
        stream->was_sent = client->sent_bytes >= stream->sent_at;
        stream->error = *reason;
        if (stream->is_abandoned) free(stream);
    }
    client->output_start = client->output_end = 0;
    client->sent_bytes = client->queued_bytes;
    if (client->reply_to_hello) {
        larder__v1__envelope__free_unpacked(client->reply_to_hello, NULL);
    }
    client->reply_to_hello = NULL;
}

void larder_retain(larder_client *client) { client->references++; }

void larder_unretain(larder_client *client) {
    if (--client->references > 0) return;
    if (client->wake >= 0) close(client->wake);
    free(client->output);
    free(client->path);
    free(client->name);
    free(client->trace);
    free(client->schema_version);
    free(client->schema_fingerprint);
    free(client);
}

void larder_close(larder_client *client) {
    if (!client) return;
    client->is_closed = true;
    larder_error reason;
    larder_fail(&reason, LARDER_ERROR_CONNECTION_FAILED, "the client is closed");
    larder_disconnect(client, &reason);
    larder_unretain(client);
}

// The handshake

static bool take_welcome(larder_client *client, Envelope *reply, larder_error *error) {
    const Larder__V1__WelcomeReply *welcome = reply->welcome;
    client->reply_to_hello = reply;
    if (welcome->protocol_version != 1) {
        return larder_fail(
            error, LARDER_ERROR_UNSUPPORTED_VERSION,
            "the server replied with version %u of the protocol", welcome->protocol_version);
    }
    if (welcome->store.len != UUID_BYTES || welcome->frame_bytes_max == 0 ||
        welcome->requests_in_flight_max == 0) {
        return larder_fail(
            error, LARDER_ERROR_MALFORMED_MESSAGE, "the server sent an incomplete welcome");
    }
    client->welcome = (larder_welcome){
        .protocol_version = welcome->protocol_version,
        .is_read_only = welcome->read_only,
        .history_epoch = welcome->history_epoch,
        .server_name = welcome->server_name,
        .schema_version = welcome->schema_version,
        .schema_fingerprint = welcome->schema_fingerprint,
        .frame_bytes_max = welcome->frame_bytes_max,
        .requests_in_flight_max = welcome->requests_in_flight_max,
        .object_bytes_max = welcome->object_bytes_max ? welcome->object_bytes_max : 16 << 20,
    };
    memcpy(client->welcome.store, welcome->store.data, UUID_BYTES);
    client->request_bytes_max = welcome->frame_bytes_max;
    client->reply_bytes_max = REPLY_BYTES_MAX;
    if (client->frame_bytes_max > REPLY_BYTES_MAX) {
        client->reply_bytes_max = client->frame_bytes_max;
    }
    client->requests_max = welcome->requests_in_flight_max;
    return true;
}

static bool shake_hands(larder_client *client, int64_t deadline, larder_error *error) {
    Larder__V1__Hello hello = LARDER__V1__HELLO__INIT;
    hello.protocol_version = 1;
    hello.client_name = client->name;
    hello.schema_version = client->schema_version;
    hello.schema_fingerprint = client->schema_fingerprint;
    hello.frame_bytes_max = client->frame_bytes_max;
    Envelope request = LARDER__V1__ENVELOPE__INIT;
    request.body_case = LARDER__V1__ENVELOPE__BODY_HELLO;
    request.hello = &hello;
    Stream *stream = larder_stream_open(
        client, &request, LARDER__V1__ENVELOPE__BODY_WELCOME, 1, true, error);
    if (!stream) return false;
    Reply reply;
    int found = -1;
    if (larder_flush(client, deadline, error)) {
        found = larder_stream_next(stream, deadline, &reply, error);
        if (found == 0) {
            larder_fail(
                error, LARDER_ERROR_CONNECTION_FAILED, "the server does not reply: %s",
                strerror(ETIMEDOUT));
        }
    }
    larder_stream_release(stream);
    return found == 1 && take_welcome(client, reply.envelope, error);
}

bool larder_connect(larder_client *client, larder_error *error) {
    larder_error failure;
    larder_fail(&failure, LARDER_ERROR_CONNECTION_FAILED, "the connection was replaced");
    larder_disconnect(client, &failure);
    client->last_id = 0;
    client->requests_max = 2;
    client->request_bytes_max = client->reply_bytes_max = HANDSHAKE_BYTES_MAX;
    int64_t deadline = larder_after(HANDSHAKE_MILLISECONDS);
    if (larder_socket_open(client, deadline, &failure) &&
        shake_hands(client, deadline, &failure)) {
        return true;
    }
    larder_disconnect(client, &failure);
    larder_copy_error(error, &failure);
    return false;
}

// Connects until a time. Every other error than a temporary one ends it.
static bool connect_until(larder_client *client, int64_t deadline, larder_error *error) {
    larder_error failure = {0};
    for (int pause = PAUSE_MILLISECONDS_MIN; !larder_connect(client, &failure); pause *= 2) {
        if (pause > PAUSE_MILLISECONDS_MAX) pause = PAUSE_MILLISECONDS_MAX;
        bool ends = !larder_error_is_temporary(&failure) || larder_now() + pause > deadline;
        if (ends || !larder_pause(client, pause, &failure)) {
            larder_copy_error(error, &failure);
            return false;
        }
    }
    return true;
}

static void remember_store(larder_client *client) {
    memcpy(client->store, client->welcome.store, UUID_BYTES);
}

bool larder_reconnect(larder_client *client, int milliseconds, larder_error *error) {
    if (client->is_closed) {
        return larder_fail(error, LARDER_ERROR_CONNECTION_FAILED, "the client is closed");
    }
    int64_t deadline = larder_after(milliseconds < 0 ? 0 : milliseconds);
    if (!connect_until(client, deadline, error)) return false;
    remember_store(client);
    return true;
}

bool larder_ensure(larder_client *client, int64_t deadline, larder_error *error) {
    if (client->socket >= 0) return true;
    if (client->is_closed || client->retry_milliseconds == 0) {
        larder_copy_error(error, &client->error);
        return false;
    }
    if (!connect_until(client, deadline, error)) return false;
    if (memcmp(client->store, client->welcome.store, UUID_BYTES) == 0) return true;
    larder_error failure;
    larder_fail(
        &failure, LARDER_ERROR_FOREIGN_IDENTIFIER, "the server has another store than before");
    larder_disconnect(client, &failure);
    larder_copy_error(error, &failure);
    return false;
}

// Clients

// Finds the only socket in a folder. Returns whether the search ends there.
static bool find_socket(const char *folder, char **path, larder_error *error) {
    char pattern[512];
    if ((size_t)snprintf(pattern, sizeof pattern, "%s/*.sock", folder) >= sizeof pattern) {
        return false;
    }
    glob_t found = {0};
    int status = glob(pattern, GLOB_NOSORT, NULL, &found);
    if (status == 0 && found.gl_pathc == 1) {
        *path = strdup(found.gl_pathv[0]);
        if (!*path) larder_fail_memory(error);
    } else if (status == 0) {
        larder_fail(
            error, LARDER_ERROR_CONNECTION_FAILED, "%s has %zu sockets; name one of them", folder,
            (size_t)found.gl_pathc);
    } else if (status == GLOB_NOSPACE) {
        larder_fail_memory(error);
    }
    globfree(&found);
    return status == 0 || status == GLOB_NOSPACE;
}

static char *default_path(larder_error *error) {
    char *path = NULL;
    char folder[480];
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (runtime && *runtime &&
        (size_t)snprintf(folder, sizeof folder, "%s/larder", runtime) < sizeof folder &&
        find_socket(folder, &path, error)) {
        return path;
    }
    if (find_socket("/run/larder", &path, error)) return path;
    larder_fail(error, LARDER_ERROR_CONNECTION_FAILED, "there is no server to connect to");
    return NULL;
}

static bool set_up(
    larder_client *client, const char *path, const larder_options *options, larder_error *error) {
    static const larder_options standard;
    if (!options) options = &standard;
    client->references = 1;
    client->socket = -1;
    client->timeout_milliseconds = client->retry_milliseconds = DEFAULT_MILLISECONDS;
    client->frame_bytes_max = options->frame_bytes_max;
    client->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (client->wake < 0) {
        return larder_fail(
            error, LARDER_ERROR_RESOURCE_EXHAUSTED, "there is no file descriptor: %s",
            strerror(errno));
    }
    client->path = path ? strdup(path) : default_path(error);
    if (!path && !client->path) return false;
    client->name = strdup(options->name ? options->name : "liblarder");
    client->schema_version = strdup(options->schema_version ? options->schema_version : "");
    client->schema_fingerprint =
        strdup(options->schema_fingerprint ? options->schema_fingerprint : "");
    bool is_complete = client->path && client->name && client->schema_version &&
                       client->schema_fingerprint;
    return is_complete || larder_fail_memory(error);
}

larder_client *larder_open(const char *path, const larder_options *options, larder_error *error) {
    larder_client *client = calloc(1, sizeof *client);
    if (!client) {
        larder_fail_memory(error);
        return NULL;
    }
    int wait = options && options->wait_milliseconds > 0 ? options->wait_milliseconds : 0;
    if (!set_up(client, path, options, error) ||
        !connect_until(client, larder_after(wait), error)) {
        larder_close(client);
        return NULL;
    }
    remember_store(client);
    return client;
}

const larder_welcome *larder_client_welcome(const larder_client *client) {
    return client->reply_to_hello ? &client->welcome : NULL;
}

void larder_set_timeout(larder_client *client, int milliseconds) {
    client->timeout_milliseconds = milliseconds < 1 ? 1 : milliseconds;
}

bool larder_set_trace(larder_client *client, const char *trace, larder_error *error) {
    char *copy = trace ? strdup(trace) : NULL;
    if (trace && !copy) return larder_fail_memory(error);
    free(client->trace);
    client->trace = copy;
    return true;
}

void larder_set_retry(larder_client *client, int milliseconds) {
    client->retry_milliseconds = milliseconds < 0 ? 0 : milliseconds;
}

void larder_cancel(larder_client *client) {
    // A signal handler must not change it.
    int number = errno;
    uint64_t one = 1;
    // A full counter is a cancellation, too.
    ssize_t written = write(client->wake, &one, sizeof one);
    (void)written;
    errno = number;
}

int larder_fd(const larder_client *client) { return client->socket; }

bool larder_ping(larder_client *client, larder_error *error) {
    Larder__V1__PingRequest body = LARDER__V1__PING_REQUEST__INIT;
    Envelope request = LARDER__V1__ENVELOPE__INIT;
    request.body_case = LARDER__V1__ENVELOPE__BODY_PING;
    request.ping = &body;
    Envelope *reply = larder_call(
        client, &request, LARDER__V1__ENVELOPE__BODY_PONG, REPEAT_ALWAYS, NULL, error);
    if (!reply) return false;
    larder__v1__envelope__free_unpacked(reply, NULL);
    return true;
}
