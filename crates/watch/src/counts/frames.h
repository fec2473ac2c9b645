/* HTTP/2 (RFC 9113): which responses begin and go on in the frames that a server sends. */
#ifndef HEADWORKS_COUNTS_FRAMES_H
#define HEADWORKS_COUNTS_FRAMES_H

#include "responses.h"

/* Section 6 */
#define FRAME_DATA 0
#define FRAME_HEADERS 1
#define FRAME_RST_STREAM 3
#define FRAME_SETTINGS 4
#define FRAME_CONTINUATION 9
#define END_STREAM 0x1
#define END_HEADERS 0x4
#define PADDED 0x8
#define PRIORITY 0x20
/* Section 4.1; what of a header block is looked at; and the longest that a frame is taken for one. */
#define FRAME_HEAD 9
#define BLOCK_HEAD 16
#define MAX_FRAME (1 << 20)
/* Steps in one call, of which a frame takes two or three. */
#define MAX_STEPS 65536
#define MAX_STREAMS 32768

/* Where a connection is in its frames. */
struct frames {
	/* Of all connections so far: what is known of a stream is not of another connection's. */
	u64 serial;
	/* What is still to come of the present frame. */
	u32 payload;
	/* What is there of the next one's head, and of what a header block begins with. */
	u32 have;
	/* More than is ever there, so that the program can be seen to stay within it. */
	u8 head[64];
	bool has_strayed;
};

struct stream {
	u64 connection;
	u32 id;
	u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_STREAMS);
	__type(key, struct stream);
	__type(value, struct response);
} streams SEC(".maps");

/* Bytes that are sent; `at` is where the program has them, or 0 where they cannot be read. */
struct walk {
	struct frames *frames;
	const u8 *at;
	u32 left;
};

/* Past what a number of so many bits of prefix takes (RFC 7541, section 5.1), which are all that is at `at`.
 */
static u32 past_number(const u8 *head, u32 at, u8 prefix)
{
	u32 more;

	if ((head[at & 31] & prefix) != prefix)
		return at + 1;
	for (more = 1; more < 5; more++) {
		if (!(head[(at + more) & 31] & 0x80))
			break;
	}
	return at + more + 1;
}

/* The first digit of a number in a literal (RFC 7541, section 5.2 and appendix B); 0 if that is none. */
static s32 first_digit(u8 length, u8 first)
{
	if (!(length & 0x80))
		return first > '0' && first <= '5' ? first - '0' : 0;
	/* Digits up to 2 have five bits there, others six. */
	if (first >> 3 == 1 || first >> 3 == 2)
		return first >> 3;
	if (first >> 2 >= 0x19 && first >> 2 <= 0x1b)
		return (first >> 2) - 0x16;
	return 0;
}

#define NO_STATUS -1

/* The status that a header block begins with, its first digit times 100; 0 if it is not written there,
 * NO_STATUS if there is none, as in trailers. `at` is where the block begins in the head of the frame. Known
 * by its type alone where it is called, as class_of() is. */
__noinline s32 status_in_block(struct frames *frames, u32 at)
{
	const u8 *head;
	u32 updates;
	u8 first, index;

	if (!frames)
		return NO_STATUS;
	head = frames->head;
	/* The table's size may change before (RFC 7541, section 6.3). */
	for (updates = 0; updates < 2; updates++) {
		if ((head[at & 31] & 0xe0) != 0x20)
			break;
		at = past_number(head, at, 0x1f);
	}
	first = head[at & 31];
	if (first & 0x80) {
		/* Section 6.1 and appendix A: `:status` of 200, 204, 206, 304, 400, 404, 500. */
		index = first & 0x7f;
		if (index >= 8 && index <= 10)
			return 200;
		if (index == 11)
			return 300;
		if (index == 12 || index == 13)
			return 400;
		if (index == 14)
			return 500;
		/* It was written earlier. */
		return index >= 62 ? 0 : NO_STATUS;
	}
	/* Section 6.2: with the name at an index. */
	index = first & 0x40 ? first & 0x3f : first & 0xf;
	if (index < 8 || index > 14)
		return NO_STATUS;
	return first_digit(head[(at + 1) & 31], head[(at + 2) & 31]) * 100;
}

static void header_block(struct stream *stream, u8 flags, struct frames *frames, u64 bytes)
{
	struct response *known = bpf_map_lookup_elem(&streams, stream), response = {};
	u32 at = FRAME_HEAD;
	s32 status;

	if (known) {
		/* Trailers. */
		more(known, bytes, mine());
		return;
	}
	if (flags & PADDED)
		at += 1;
	if (flags & PRIORITY)
		at += 5;
	status = status_in_block(frames, at);
	if (status == NO_STATUS)
		return;
	begin(&response, bytes, status);
	if (response.has_begun && !(flags & END_STREAM))
		bpf_map_update_elem(&streams, stream, &response, BPF_ANY);
}

/* A frame is about to be sent of which so much is known. */
static void frame(struct frames *frames, u32 length)
{
	const u8 *head = frames->head;
	u8 kind = head[3], flags = head[4];
	struct stream stream = {.connection = frames->serial};
	struct response *response;
	u64 bytes = FRAME_HEAD + length;

	stream.id = ((u32)head[5] & 0x7f) << 24 | (u32)head[6] << 16 | (u32)head[7] << 8 | head[8];
	if (kind == FRAME_HEADERS) {
		header_block(&stream, flags, frames, bytes);
	} else if (kind == FRAME_DATA || kind == FRAME_CONTINUATION) {
		response = bpf_map_lookup_elem(&streams, &stream);
		if (response)
			more(response, bytes, mine());
	}
	if (kind == FRAME_RST_STREAM || (kind <= FRAME_HEADERS && flags & END_STREAM))
		bpf_map_delete_elem(&streams, &stream);
}

static u32 length_of(const struct frames *frames)
{
	return (u32)frames->head[0] << 16 | (u32)frames->head[1] << 8 | frames->head[2];
}

/* How much of the present frame is to be gathered before it is looked at. */
static u32 needed(const struct frames *frames)
{
	u32 length;

	if (frames->have < FRAME_HEAD || frames->head[3] != FRAME_HEADERS)
		return FRAME_HEAD;
	length = length_of(frames);
	return FRAME_HEAD + (length < BLOCK_HEAD ? length : BLOCK_HEAD);
}

static void stray(struct frames *frames)
{
	frames->has_strayed = true;
	__sync_fetch_and_add(&strayed, 1);
}

/* One step further in what is sent: to the end of a frame, or of what is there of one. */
static long step(u32 unused, struct walk *walk)
{
	struct frames *frames = walk->frames;
	u32 some, at, length;

	if (!walk->left || frames->has_strayed)
		return 1;
	if (frames->payload) {
		some = frames->payload < walk->left ? frames->payload : walk->left;
		frames->payload -= some;
	} else {
		at = frames->have;
		some = needed(frames) - at;
		if (some > walk->left)
			some = walk->left;
		at &= 31;
		some &= 31;
		if (!walk->at || bpf_probe_read_user(frames->head + at, some, walk->at)) {
			stray(frames);
			return 1;
		}
		frames->have = at + some;
		if (frames->have >= FRAME_HEAD && frames->have == needed(frames)) {
			length = length_of(frames);
			if (length > MAX_FRAME) {
				stray(frames);
				return 1;
			}
			frame(frames, length);
			frames->payload = length - (frames->have - FRAME_HEAD);
			frames->have = 0;
		}
	}
	walk->left -= some;
	if (walk->at)
		walk->at += some;
	return 0;
}

/* So many bytes are sent, from there. */
static void walk_frames(struct frames *frames, const u8 *at, u32 length)
{
	struct walk walk = {.frames = frames, .at = at, .left = length};

	bpf_loop(MAX_STEPS, step, &walk, 0);
	if (walk.left && !frames->has_strayed)
		stray(frames);
}

static void begin_frames(struct frames *frames)
{
	__builtin_memset(frames, 0, sizeof(*frames));
	frames->serial = __sync_fetch_and_add(&serials, 1) + 1;
}

/* Whether a server's side of a connection begins with these 12 bytes: with its settings (section 3.4). */
static bool is_preface(const u8 *bytes)
{
	return !bytes[0] && !bytes[1] && bytes[3] == FRAME_SETTINGS && !bytes[5] && !bytes[6] && !bytes[7] &&
	       !bytes[8];
}

/* Whether these 12 bytes look like a response in a connection that was not seen from its beginning. */
static bool is_response_head(const u8 *bytes)
{
	u8 first = bytes[9];

	return !bytes[0] && bytes[3] == FRAME_HEADERS && bytes[4] & END_HEADERS &&
	       !(bytes[4] & ~(END_HEADERS | END_STREAM)) && !(bytes[5] & 0x80) && bytes[8] & 1 &&
	       ((first >= 0x88 && first <= 0x8e) || (first >= 0x48 && first <= 0x4e) ||
		(first >= 0x08 && first <= 0x0e));
}

#endif
