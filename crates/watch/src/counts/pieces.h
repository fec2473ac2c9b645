/* What is about to be sent, in pieces of a program's memory. */
#ifndef HEADWORKS_COUNTS_PIECES_H
#define HEADWORKS_COUNTS_PIECES_H

#include "frames.h"

/* Of memory, in one call. */
#define MAX_PIECES 1024

/* Where what is about to be sent is, in a program's memory. */
struct pieces {
	/* Several, or the only one. */
	const struct iovec *list;
	const u8 *only;
	/* From there on. */
	u64 offset;
};

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
			list = message->msg_iter.__iov;
		else
			list = ((struct iov_iter___before_6_4 *)&message->msg_iter)->iov;
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

/* Reads the first bytes of it. */
static bool peek(const struct pieces *pieces, u8 *bytes, u32 length)
{
	struct iovec first = {.iov_base = (void *)pieces->only, .iov_len = -1UL};

	if (pieces->list && bpf_probe_read_kernel(&first, sizeof(first), pieces->list))
		return false;
	return pieces->offset < first.iov_len &&
	       !bpf_probe_read_user(bytes, length, first.iov_base + pieces->offset);
}

/* What is about to be taken of pieces of memory, one after the other. */
struct taken {
	const struct iovec *list;
	/* What is not new of them. */
	u64 offset;
	u64 left;
};

/* The next piece of it, at this place; false when all of it has been seen, or cannot be. */
static bool next_piece(struct taken *taken, u32 at, struct iovec *piece)
{
	u64 old, length;

	if (!taken->left || bpf_probe_read_kernel(piece, sizeof(*piece), &taken->list[at]))
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
		.taken = {.list = pieces->list, .offset = pieces->offset, .left = bytes},
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
		.taken = {.list = pieces->list, .offset = pieces->offset, .left = bytes},
		.response = response,
		.begins = begins,
	};

	if (pieces->list)
		bpf_loop(MAX_PIECES, look_for_head, &heads, 0);
	count_piece(response, heads.bytes + heads.taken.left, heads.begins);
}

#endif
