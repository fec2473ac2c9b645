/* What is counted: responses by the size of each and by the first digit of its status, their bytes, and
 * connections by protocol. */
#ifndef HEADWORKS_COUNTS_RESPONSES_H
#define HEADWORKS_COUNTS_RESPONSES_H

#include "../bpf/vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* As in traced.rs. */
#define MAX_PORTS 16
#define MAX_CLASSES 16
#define MAX_CPUS 512
#define STATUSES 6
/* "HTTP/1.1 100 Continue" and the end of the head. */
#define CONTINUE_BYTES 25

const volatile u16 wanted[MAX_PORTS];
const volatile u32 ports;
/* The number of the network namespace in which they are meant; 0 for any. */
const volatile u32 namespace;
/* Between classes, growing. */
const volatile u64 bounds[MAX_CLASSES];
const volatile u32 classes;

/* As in traced.rs. */
enum protocol { NOT_KNOWN, HTTP1, HTTP2, TLS, TLS_HTTP1, TLS_HTTP2, OTHER, PROTOCOLS };

/* By processor. As in traced.rs; sums wrap, since a response that grows leaves one class for another. */
struct counts {
	u64 bytes[MAX_CLASSES];
	/* requests, by class and the first digit of the status, 0 where that is not known */
	u64 statuses[MAX_CLASSES * STATUSES];
	/* Connections on which something was sent, by protocol, and bytes of those whose responses are not
	 * counted. */
	u64 connections[PROTOCOLS];
	u64 other_bytes;
};

struct counts counts[MAX_CPUS];
/* What is still to be added to them, when hw_map_pending has run. */
struct counts pending;
/* Connections whose frames could not be followed any more. */
u64 strayed;
/* Connections so far. */
u64 serials;
/* Goes up when counting is taken up again: what was known of connections before has not gone on since. */
u32 epoch;

/* A response that has begun. */
struct response {
	u64 bytes;
	u32 class;
	/* First digit of its status. */
	u8 status;
	bool has_begun;
	/* The connection has switched to another protocol: all that is sent is of this response. */
	bool has_switched;
};

/* Known by its type alone where it is called, so that the verifier does not follow each of its ways from each
 * of those to it. */
__noinline u32 class_of(u64 bytes)
{
	u32 at;

	for (at = 0; at + 1 < MAX_CLASSES && at + 1 < classes; at++) {
		if (bytes <= bounds[at])
			break;
	}
	return at;
}

static struct counts *mine(void)
{
	return &counts[bpf_get_smp_processor_id() % MAX_CPUS];
}

static void count_connection(u32 protocol)
{
	barrier_var(protocol);
	if (protocol < PROTOCOLS)
		__sync_fetch_and_add(&mine()->connections[protocol], 1);
}

/* So many requests more of a class and a status, and so many bytes of them. */
static void count(struct counts *all, u32 class, u32 status, u64 requests, u64 bytes)
{
	u32 at = class * STATUSES + status;

	barrier_var(class);
	barrier_var(at);
	if (class >= MAX_CLASSES || at >= MAX_CLASSES * STATUSES)
		return;
	if (requests)
		__sync_fetch_and_add(&all->statuses[at], requests);
	__sync_fetch_and_add(&all->bytes[class], bytes);
}

/* What is sent is of this response; less than nothing if it was counted and not sent. Where it had begun
 * before it was seen, it is of none. */
static void more(struct response *response, u64 bytes, struct counts *all)
{
	u32 before = response->class, now = class_of(response->bytes + bytes);

	if (!response->has_begun) {
		__sync_fetch_and_add(&all->other_bytes, bytes);
		return;
	}
	response->bytes += bytes;
	if (now == before) {
		count(all, now, response->status, 0, bytes);
		return;
	}
	count(all, before, response->status, -1ULL, bytes - response->bytes);
	response->class = now;
	count(all, now, response->status, 1, response->bytes);
}

/* A response begins, with so many bytes; its status may be unknown, 0. */
static void begin(struct response *response, u64 bytes, u16 status)
{
	u32 first = status / 100;

	/* An interim response has none of its own (RFC 9110, section 15.2), and what comes now is not of the
	 * one before. */
	if ((first == 1 && status != 101) || first >= STATUSES) {
		response->has_begun = false;
		return;
	}
	response->has_begun = true;
	response->has_switched = status == 101;
	response->bytes = bytes;
	response->class = class_of(bytes);
	response->status = first;
	count(mine(), response->class, first, 1, bytes);
}

/* The status of a response of HTTP/1 that begins with these 12 bytes (RFC 9112, section 4); 0 if none does.
 */
static u16 status_in(const u8 *bytes)
{
	u32 at, status = 0;

	if (bytes[0] != 'H' || bytes[1] != 'T' || bytes[2] != 'T' || bytes[3] != 'P' || bytes[4] != '/' ||
	    bytes[5] != '1' || bytes[6] != '.' || bytes[8] != ' ')
		return 0;
	for (at = 9; at < 12; at++) {
		if (bytes[at] < '0' || bytes[at] > '9')
			return 0;
		status = status * 10 + bytes[at] - '0';
	}
	return status;
}

#endif
