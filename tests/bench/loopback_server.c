/* A chat server on loopback for timing clients: every chat is answered with the same reply after a fixed time,
 * anything else at once: there is nothing to look up. HTTP/1.1 with keep-alive, one thread, epoll; it reads a
 * body without looking at it.
 *
 *     loopback_server LATENCY_MS     prints its port, serves until its standard input closes
 *
 * All requests wait equally long, so those that are due form a queue in the order in which they came. A timer
 * wakes for the first of them: epoll's own wait is rounded up to whole milliseconds.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define MOST_CLIENTS 4096
#define MOST_HEAD 8192

struct client {
    char head[MOST_HEAD + 1];
    size_t have;        /* bytes of the head so far */
    long left;          /* bytes of the body still to come; -1 while the head is read */
    int chat;           /* whether the request is one */
    unsigned life;      /* which connection of this descriptor it is */
};
struct due {
    double at;
    int fd;
    unsigned life;
};

static struct client *clients[MOST_CLIENTS];
static unsigned lives[MOST_CLIENTS];
static struct due queue[MOST_CLIENTS * 4];
static size_t first, last;
static const size_t places = sizeof queue / sizeof *queue;

static const char body[] =
    "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"created\":1790000000,\"model\":\"loopback\","
    "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"yes. The log says that the "
    "valve was closed at 08:14, which is what the question asks.\"},\"logprobs\":null,\"finish_reason\":"
    "\"stop\"}],\"usage\":{\"prompt_tokens\":5012,\"completion_tokens\":24,\"total_tokens\":5036}}";

static const char nothing[] = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void drop(int fd) {
    free(clients[fd]);
    clients[fd] = NULL;
    lives[fd]++;
    close(fd);
}

static long length_of(const char *head) {
    const char *found = strcasestr(head, "\r\ncontent-length:");
    return found ? atol(found + 17) : 0;
}

/* Take what a client sent; queue its reply when a request is whole. */
static void take(int fd, double latency) {
    static char data[1 << 16];
    struct client *one = clients[fd];
    for (;;) {
        ssize_t size = read(fd, data, sizeof data);
        if (size < 0 && errno == EAGAIN) return;
        if (size <= 0) { drop(fd); return; }
        char *at = data;
        while (size > 0) {
            if (one->left < 0) {
                size_t before = one->have, room = MOST_HEAD - before;
                size_t part = (size_t)size < room ? (size_t)size : room;
                memcpy(one->head + before, at, part);
                one->have += part;
                one->head[one->have] = 0;
                char *end = strstr(one->head, "\r\n\r\n");
                if (!end) {
                    if (one->have == MOST_HEAD) { drop(fd); return; }
                    at += part; size -= part;
                    continue;
                }
                size_t used = (size_t)(end + 4 - one->head) - before;
                end[2] = 0;
                one->have = 0;
                at += used; size -= used;
                one->left = length_of(one->head);
                char *line = strstr(one->head, "\r\n"), *chat = strstr(one->head, "/chat/");
                one->chat = chat && line && chat < line;
            }
            long part = size < one->left ? size : one->left;
            one->left -= part; at += part; size -= part;
            if (one->left == 0) {
                one->left = -1;
                if (one->chat) queue[last++ % places] = (struct due){now() + latency, fd, one->life};
                else if (write(fd, nothing, sizeof nothing - 1) < 0) { drop(fd); return; }
            }
        }
    }
}

int main(int count, char **words) {
    double latency = count > 1 ? atof(words[1]) / 1000 : 0.05;
    static char reply[sizeof body + 200];
    int size = snprintf(reply, sizeof reply,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %zu\r\n\r\n%s",
        sizeof body - 1, body);
    int yes = 1, listening = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), poll = epoll_create1(0);
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof place;
    if (bind(listening, (struct sockaddr *)&place, length) || listen(listening, 1024)) return 1;
    getsockname(listening, (struct sockaddr *)&place, &length);
    printf("%d\n", ntohs(place.sin_port));
    fflush(stdout);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listening}, events[256];
    epoll_ctl(poll, EPOLL_CTL_ADD, listening, &event);
    event.data.fd = 0;
    epoll_ctl(poll, EPOLL_CTL_ADD, 0, &event);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    event.data.fd = timer;
    epoll_ctl(poll, EPOLL_CTL_ADD, timer, &event);
    for (;;) {
        if (first != last) {
            double at = queue[first % places].at;
            long part = (long)((at - (time_t)at) * 1e9);  /* never nothing: that would stop the timer */
            struct itimerspec next = {.it_value = {(time_t)at, part > 0 ? part : 1}};
            timerfd_settime(timer, TFD_TIMER_ABSTIME, &next, NULL);
        }
        int ready = epoll_wait(poll, events, 256, -1);
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd;
            if (fd == 0) return 0;
            if (fd == timer) {
                unsigned long long rung;
                if (read(timer, &rung, sizeof rung) < 0 && errno != EAGAIN) return 1;
                continue;
            }
            if (fd != listening) { if (clients[fd]) take(fd, latency); continue; }
            int made;
            while ((made = accept4(listening, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
                if (made >= MOST_CLIENTS) { close(made); continue; }
                setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
                clients[made] = calloc(1, sizeof **clients);
                clients[made]->left = -1;
                clients[made]->life = lives[made];
                event.data.fd = made;
                epoll_ctl(poll, EPOLL_CTL_ADD, made, &event);
            }
        }
        while (first != last && queue[first % places].at <= now()) {
            struct due one = queue[first++ % places];
            if (clients[one.fd] && clients[one.fd]->life == one.life) {
                if (write(one.fd, reply, size) != size) drop(one.fd);
            }
        }
    }
}
