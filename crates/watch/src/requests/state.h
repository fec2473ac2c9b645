/* What is known of threads, connections and the request on each, and how a finished one is told. */
#ifndef HEADWORKS_REQUESTS_STATE_H
#define HEADWORKS_REQUESTS_STATE_H

#include "../bpf/processors.h"
#include "../bpf/tasks.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define MAX_PORTS 16
#define MAX_CONNECTIONS 65536
#define RING_BYTES (8 << 20)
/* More than any architecture has system calls. */
#define MAX_CALLS 512

/* include/net/tcp_states.h */
#define TCP_ESTABLISHED 1
#define TCP_FIN_WAIT1 4
#define TCP_CLOSE 7
#define TCP_LAST_ACK 9
/* include/linux/socket.h, include/uapi/linux/in.h */
#define AF_INET 2
#define AF_INET6 10
#define IPPROTO_TCP 6

/* What a system call is to a request; as in calls.rs. */
#define CALL_READS 1
#define CALL_WRITES 2
/* May sleep until somebody else does something with a socket or a file. */
#define CALL_WAITS 4
/* Turns to whatever comes next, so that the thread is done with the connection for now. */
#define CALL_LEAVES 8
#define CALL_ACCEPTS 16
/* It was entered before the thread was watched. */
#define CALL_UNKNOWN 32
/* May sleep until another thread does something. */
#define CALL_JOINS 64

const volatile u16 wanted[MAX_PORTS];
const volatile u32 ports;
/* The number of the network namespace in which they are meant; 0 for any. */
const volatile u32 namespace;
const volatile u8 calls[MAX_CALLS];
/* Grows when a window opens: what was known before is not continued. */
u64 epoch;
/* Requests that begin between these moments are followed. */
u64 opens;
u64 closes;
/* By place in `wanted`: a probe in the server says when the header of a request has been parsed. */
bool probed[MAX_PORTS];
/* Finished requests that there was no room for in the ring, and connections that there was none for. */
u64 lost;
u64 crowded;
/* Connections so far. */
u64 serials;
/* The way into the kernel and back as far as programs here are not told of it, in ns: by system calls, and by
 * the probe in the server. */
u64 call_crossing;
u64 probe_crossing;
/* What it takes to get to a program here and back, as far as it does not know itself, in ns: at a place in
 * the kernel, and at the probe in the server. 0 if what following costs is not to be left out. */
u64 call_cost;
u64 probe_cost;
/* How long a jiffy is, in ns; 0 if that is not known. */
u64 jiffy;
/* Time of the thread that asked last in what counts as user mode, since it asked before, in ns. */
u64 own_user;
/* By processor, of stretches that count as user mode: how long they were in all, what ended them, how often
 * they were looked at, and how often it was the kernel that ran. As in traced.rs. */
struct stretches {
	u64 time;
	u64 calls;
	u64 probes;
	u64 looks;
	u64 crossings;
	/* Each processor has memory of its own. */
	u64 apart[3];
} stretches[MAX_CPUS];
/* The longest that a server has paused within a response and been ready for something else, in ns. */
u64 longest_pause;

/* What a thread has used; times in ns. As in finished.rs. */
struct usage {
	u64 user;
	/* without soft interrupts */
	u64 kernel;
	/* in soft interrupts that came while it ran */
	u64 soft;
	/* asleep until a disk had answered */
	u64 disk_wait;
	/* read from disks on its behalf, and what was changed of files and goes there */
	u64 disk_bytes;
	u64 disk_written;
	/* system calls */
	u64 reads;
	u64 writes;
};

struct thread {
	u64 epoch;
	/* The connection it is occupied with, 0 if none. The memory of a socket is used again, so its address
	 * is not enough. */
	u64 connection;
	u64 serial;
	/* Until when its time is in `used`. */
	u64 accounted;
	/* What the hypervisor had taken of its processor by then, as far as the scheduler had looked. */
	u64 stolen;
	/* What has been accounted since it was switched in, and what the scheduler had charged it with until
	 * then, 0 if that is not known. */
	u64 slice;
	u64 charged;
	/* When it entered the last system call. */
	u64 entered;
	u64 waits_for_disk;
	/* `ioac.read_bytes` and `ioac.write_bytes` when they were last looked at. */
	u64 disk_bytes;
	u64 disk_written;
	u32 call;
	u16 in_kernel;
	u16 in_soft;
	/* Its turn has ended, as far as is known. */
	u16 is_off;
	/* When it was last looked at, how often since it was accounted for, and how often the kernel ran
	 * then. */
	u64 looked;
	u16 looks;
	u16 crossings;
	/* What following it has cost it in the kernel and in soft interrupts, and is still to be left out. */
	u64 owed;
	u64 owed_soft;
	/* What no request has been charged with yet. */
	struct usage used;
};

/* Where the request on a connection is. The first four are places in `used` as well. */
enum state {
	PARSING,
	PROCESSING,
	/* Something has been sent. It may have been the last of the response, so what comes after is
	 * logging, until more is sent. */
	SENT,
	/* Something has been received after that: more of the request or the next one. */
	RECEIVED_MORE,
	PARTS,
	/* There has been no request. */
	FRESH,
	/* There is no request, as far as is known. */
	IDLE,
	/* There is one that is not followed. */
	IGNORED,
};

/* A request. As in finished.rs. */
struct http_request {
	u64 established;
	u64 accepted;
	/* port of the client << 16 | port */
	u64 ports;
	u64 flags;
	u64 began;
	u64 read;
	u64 parsed;
	u64 sent;
	u64 ended;
	u64 bytes_received;
	u64 bytes_sent;
	struct usage used[3];
};

struct connection {
	u64 epoch;
	u64 serial;
	u64 state;
	/* Since when something lies unread. */
	u64 arrived;
	/* The server has begun to close it. */
	u64 is_closing;
	u64 is_probed;
	struct http_request request;
	/* Of what may be the next one. */
	u64 next_began;
	u64 next_read;
	u64 next_received;
	u64 next_flags;
	struct usage next_used;
};

/* It is the first on its connection. */
#define FLAG_FIRST 4
/* When it could have been read is not known. */
#define FLAG_UNSEEN 8

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/* By the address of the socket. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, MAX_CONNECTIONS);
	__type(key, u64);
	__type(value, struct connection);
} connections SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

/* Its place in `wanted`, at least `ports` if it is not there. */
static u32 place(u16 port)
{
	u32 at;

	for (at = 0; at < MAX_PORTS && at < ports; at++) {
		if (wanted[at] == port)
			return at;
	}
	return MAX_PORTS;
}

static bool is_wanted(u16 port)
{
	return place(port) < MAX_PORTS;
}

static struct connection *connection_of(u64 key)
{
	struct connection *found = bpf_map_lookup_elem(&connections, &key);

	return found && found->epoch == epoch ? found : NULL;
}

/* The connection that a thread is occupied with. */
static struct connection *current_of(struct thread *thread)
{
	struct connection *found = thread->connection ? connection_of(thread->connection) : NULL;

	return found && found->serial == thread->serial ? found : NULL;
}

#endif
