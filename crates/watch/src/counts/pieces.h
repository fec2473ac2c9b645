/* What is about to be sent, in pieces of a program's memory. */
#ifndef HEADWORKS_COUNTS_PIECES_H
#define HEADWORKS_COUNTS_PIECES_H

#include "frames.h"

/* Of memory, in one call. */
#define MAX_PIECES 1024
/* So many bytes say what begins with them. */
#define BEGINNING 12

/* Where what is about to be sent is, in a program's memory. */
struct pieces {
	/* Several, or the only one. */
	const struct iovec *list;
	const u8 *only;
	/* From there on. */
	u64 offset;
	/* The list is in the program's memory as well. */
	bool is_users;
};

/* Reads one of a list, at this address; nothing where it cannot be. Known by its type alone where it is
 * called, as class_of(). */
__noinline u32 read_piece(u64 address, u32 is_users, struct iovec *piece)
{
	long failed;

	if (!piece)
		return 0;
	if (is_users)
		failed = bpf_probe_read_user(piece, sizeof(*piece), (void *)address);
	else
		failed = bpf_probe_read_kernel(piece, sizeof(*piece), (void *)address);
	return !failed;
}

static bool is_kind(const struct msghdr *message, enum iter_type kind)
{
	return message->msg_iter.iter_type == kind;
}

/* Where what is to be sent is, if that is in a program's memory. */
static bool find(struct msghdr *message, struct pieces *pieces)
{
	const struct iovec *list;

	if (bpf_core_enum_value_exists(enum iter_type, ITER_UBUF) &&
	    is_kind(message, bpf_core_enum_value(enum iter_type, ITER_UBUF))) {
		/* Not as a pointer that the verifier knows of. */
		pieces->only = BPF_CORE_READ(message, msg_iter.ubuf);
	} else if (is_kind(message, bpf_core_enum_value(enum iter_type, ITER_IOVEC))) {
		/* It is the kernel's copy of the list. */
		if (bpf_core_field_exists(message->msg_iter.__iov))
			list = BPF_CORE_READ(message, msg_iter.__iov);
		else
			list = BPF_CORE_READ((struct iov_iter___before_6_4 *)&message->msg_iter, iov);
		if (message->msg_iter.nr_segs > 1)
			pieces->list = list;
		else
			pieces->only = BPF_CORE_READ(list, iov_base);
	} else {
		return false;
	}
	pieces->offset = message->msg_iter.iov_offset;
	return true;
}

/* The verifier does not know that it is, and follows a loop that begins with it once, not step by step. */
u32 zero;

/* The first bytes of it, one after the other, in whatever pieces they are. */
struct beginning {
	const struct iovec *list;
	const u8 *only;
	u64 offset;
	/* Of the list. */
	u32 at;
	u32 length;
	u32 have;
	/* The last eight of them, and those before. */
	u64 last;
	u64 before;
	bool is_users;
};

static long next_byte(u32 step, struct beginning *first)
{
	struct iovec piece = {.iov_base = (void *)first->only, .iov_len = -1UL};
	u8 byte = 0;

	if (first->have >= first->length)
		goto put;
	if (first->list && !read_piece((u64)&first->list[first->at], first->is_users, &piece))
		return 1;
	if (first->offset >= piece.iov_len) {
		first->offset -= piece.iov_len;
		first->at++;
		return 0;
	}
	if (bpf_probe_read_user(&byte, sizeof(byte), piece.iov_base + first->offset))
		return 1;
	first->offset++;
put:
	first->before = first->before << 8 | first->last >> 56;
	first->last = first->last << 8 | byte;
	return ++first->have == BEGINNING;
}

/* Reads the first 12 of so many bytes; zeros where there are fewer. False when they cannot be read. */
static bool peek(const struct pieces *pieces, u32 left, u8 *bytes)
{
	struct iovec piece = {.iov_base = (void *)pieces->only, .iov_len = left + pieces->offset};
	struct beginning first = {
		.list = pieces->list,
		.only = pieces->only,
		.offset = pieces->offset,
		.at = zero,
		.have = zero,
		.length = left < BEGINNING ? left : BEGINNING,
		.last = zero,
		.before = zero,
		.is_users = pieces->is_users,
	};
	u32 at;

	if (pieces->list && !read_piece((u64)pieces->list, pieces->is_users, &piece))
		return false;
	if (piece.iov_len >= pieces->offset + BEGINNING)
		return !bpf_probe_read_user(bytes, BEGINNING, piece.iov_base + pieces->offset);
	bpf_loop(MAX_PIECES, next_byte, &first, 0);
	if (!left || first.have != BEGINNING)
		return false;
	for (at = 0; at < 4; at++)
		bytes[at] = first.before >> (24 - 8 * at);
	for (at = 0; at < 8; at++)
		bytes[4 + at] = first.last >> (56 - 8 * at);
	return true;
}

/* What is about to be taken of pieces of memory, one after the other. */
struct taken {
	const struct iovec *list;
	/* What is not new of them. */
	u64 offset;
	u64 left;
	bool is_users;
};

/* The next piece of it, at this place; false when all of it has been seen, or cannot be. */
static bool next_piece(struct taken *taken, u32 at, struct iovec *piece)
{
	u64 old, length;

	if (!taken->left || !read_piece((u64)&taken->list[at], taken->is_users, piece))
		return false;
	old = taken->offset < piece->iov_len ? taken->offset : piece->iov_len;
	length = piece->iov_len - old;
	if (length > taken->left)
		length = taken->left;
	piece->iov_base += old;
	piece->iov_len = length;
	taken->offset -= old;
	taken->left -= length;
	return true;
}

/* Pieces with frames of HTTP/2. */
struct stroll {
	struct taken taken;
	struct frames *frames;
};

static long stroll_on(u32 at, struct stroll *stroll)
{
	struct iovec piece = {};

	if (stroll->frames->has_strayed || !next_piece(&stroll->taken, at, &piece))
		return 1;
	walk_frames(stroll->frames, piece.iov_base, piece.iov_len);
	return 0;
}

/* Frames are in so many bytes of this. */
static void look_at_frames(struct frames *frames, const struct pieces *pieces, u32 bytes)
{
	struct stroll stroll = {
		.taken = {.list = pieces->list,
			  .offset = pieces->offset,
			  .left = bytes,
			  .is_users = pieces->is_users},
		.frames = frames,
	};

	if (!pieces->list) {
		walk_frames(frames, pieces->only + pieces->offset, bytes);
		return;
	}
	bpf_loop(MAX_PIECES, stroll_on, &stroll, 0);
	if (stroll.taken.left && !frames->has_strayed)
		stray(frames);
}

/* Pieces of memory, any of which a response of HTTP/1 may begin with: of requests that came together some
 * servers send the responses together. */
struct heads {
	struct taken taken;
	struct response *response;
	/* Bytes of the response that goes on, and its status where it begins with them. */
	u64 bytes;
	u16 begins;
};

static void count_piece(struct response *response, u64 bytes, u16 begins)
{
	if (begins)
		begin(response, bytes, begins);
	else
		more(response, bytes, mine());
}

static long look_for_head(u32 at, struct heads *heads)
{
	struct iovec piece = {};
	u8 bytes[12] = {};
	u16 status = 0;

	if (!next_piece(&heads->taken, at, &piece))
		return 1;
	if (heads->bytes && piece.iov_len >= sizeof(bytes) &&
	    !bpf_probe_read_user(bytes, sizeof(bytes), piece.iov_base))
		status = status_in(bytes);
	if (status) {
		count_piece(heads->response, heads->bytes, heads->begins);
		heads->begins = status;
		heads->bytes = 0;
	}
	heads->bytes += piece.iov_len;
	return 0;
}

/* So many bytes of HTTP/1 are in this, which begins with a response of this status, or with none. */
static void look_at_heads(struct response *response, const struct pieces *pieces, u32 bytes, u16 begins)
{
	struct heads heads = {
		.taken = {.list = pieces->list,
			  .offset = pieces->offset,
			  .left = bytes,
			  .is_users = pieces->is_users},
		.response = response,
		.begins = begins,
	};

	if (pieces->list)
		bpf_loop(MAX_PIECES, look_for_head, &heads, 0);
	count_piece(response, heads.bytes + heads.taken.left, heads.begins);
}

#endif
