#include "canned.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

Script canned_scripts[SCRIPTS_MAX];
size_t canned_count;
const uint8_t canned_store[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static int listener = -1;
static char path[64];
static pthread_t thread;
static atomic_int connections;
static atomic_size_t next_script;

// Sends the frames, and reads what the client sends until it closes the connection.
static void serve(int connection, const Script *script) {
    size_t sent = 0;
    bool is_open = true;
    while (is_open) {
        while (sent < script->length) {
            size_t count = script->length - sent;
            if (script->piece > 0 && count > script->piece) count = script->piece;
            ssize_t accepted =
                send(connection, script->bytes + sent, count, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (accepted <= 0) break;
            sent += (size_t)accepted;
        }
        if (sent == script->length && !script->stays_open) shutdown(connection, SHUT_WR);
        struct pollfd ready = {.fd = connection, .events = POLLIN};
        if (sent < script->length) ready.events |= POLLOUT;
        poll(&ready, 1, -1);
        uint8_t request[4096];
        if (ready.revents & (POLLIN | POLLHUP | POLLERR)) {
            is_open = recv(connection, request, sizeof request, 0) > 0;
        }
    }
    close(connection);
}

static void *serve_all(void *unused) {
    (void)unused;
    for (;;) {
        int connection = accept(listener, NULL, NULL);
        if (connection < 0) return NULL;
        connections++;
        size_t index = next_script++;
        serve(connection, &canned_scripts[index < canned_count ? index : canned_count - 1]);
    }
}

const char *canned_path(void) { return path; }

void canned_start(void) {
    char folder[] = "/tmp/larder-XXXXXX";
    if (!mkdtemp(folder)) abort();
    snprintf(path, sizeof path, "%s/s", folder);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path) + 1);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 16) != 0 || pthread_create(&thread, NULL, serve_all, NULL) != 0) {
        abort();
    }
}

void canned_stop(void) {
    shutdown(listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(listener);
    unlink(path);
    *strrchr(path, '/') = 0;
    rmdir(path);
}

void canned_bytes(Script *script, const void *bytes, size_t length) {
    if (script->length + length > SCRIPT_BYTES_MAX) abort();
    memcpy(script->bytes + script->length, bytes, length);
    script->length += length;
}

void canned_envelope(Script *script, Envelope *envelope) {
    size_t length = larder__v1__envelope__get_packed_size(envelope);
    uint8_t header[] = {
        (uint8_t)(length >> 24), (uint8_t)(length >> 16), (uint8_t)(length >> 8),
        (uint8_t)length};
    canned_bytes(script, header, sizeof header);
    if (script->length + length > SCRIPT_BYTES_MAX) abort();
    larder__v1__envelope__pack(envelope, script->bytes + script->length);
    script->length += length;
}

Script *canned_begin(size_t index) {
    Script *script = &canned_scripts[index];
    canned_count = index + 1;
    next_script = 0;
    script->length = script->piece = 0;
    script->stays_open = false;
    Larder__V1__WelcomeReply welcome = LARDER__V1__WELCOME_REPLY__INIT;
    welcome.protocol_version = 1;
    welcome.server_name = "canned";
    welcome.store = (ProtobufCBinaryData){16, (uint8_t *)canned_store};
    welcome.schema_version = "1.0.0";
    welcome.frame_bytes_max = 1 << 20;
    welcome.requests_in_flight_max = 8;
    welcome.history_epoch = 7;
    Envelope envelope = LARDER__V1__ENVELOPE__INIT;
    envelope.id = 1;
    envelope.body_case = LARDER__V1__ENVELOPE__BODY_WELCOME;
    envelope.welcome = &welcome;
    canned_envelope(script, &envelope);
    return script;
}

larder_client *canned_open(void) {
    larder_client *client = larder_open(path, NULL, NULL);
    if (client) larder_set_retry(client, 0);
    return client;
}

int canned_connections(void) { return connections; }
