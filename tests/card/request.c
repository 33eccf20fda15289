// SPDX-License-Identifier: BSD-2-Clause
/*
 * One request of the data queue (virtio 5.9.7.7).  The guest may change its
 * memory at any time, so the request is copied once, and then checked.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "card.h"

size_t card_iov_size(const struct iovec *iov, unsigned int num)
{
	size_t size = 0;

	while (num--)
		size += iov++->iov_len;
	return size;
}

/* Calls @copy for each piece of [from, from + len) that exists. */
static size_t iov_walk(const struct iovec *iov, unsigned int num, size_t from,
		       uint8_t *own, size_t len, bool to_guest)
{
	size_t done = 0, n;
	uint8_t *guest;

	for (; num && done < len; num--, iov++) {
		if (from >= iov->iov_len) {
			from -= iov->iov_len;
			continue;
		}
		guest = (uint8_t *)iov->iov_base + from;
		n = iov->iov_len - from;
		if (n > len - done)
			n = len - done;
		if (to_guest)
			memcpy(guest, own + done, n);
		else
			memcpy(own + done, guest, n);
		done += n;
		from = 0;
	}
	return done;
}

size_t card_iov_read(const struct iovec *iov, unsigned int num, size_t from,
		     void *to, size_t len)
{
	return iov_walk(iov, num, from, to, len, false);
}

size_t card_iov_write(const struct iovec *iov, unsigned int num, size_t to,
		      const void *from, size_t len)
{
	return iov_walk(iov, num, to, (uint8_t *)from, len, true);
}

static void cipher_op(const struct virtio_crypto_cipher_para *para,
		      struct card_op *op, uint32_t *dst_len)
{
	op->iv_len = le32toh(para->iv_len);
	op->data_len = le32toh(para->src_data_len);
	op->cipher_len = op->data_len;
	*dst_len = le32toh(para->dst_data_len);
}

static void chain_op(const struct virtio_crypto_alg_chain_data_para *para,
		     struct card_op *op, uint32_t *dst_len)
{
	op->chain = true;
	op->iv_len = le32toh(para->iv_len);
	op->aad_len = le32toh(para->aad_len);
	op->data_len = le32toh(para->src_data_len);
	op->cipher_start = le32toh(para->cipher_start_src_offset);
	op->cipher_len = le32toh(para->len_to_cipher);
	op->hash_start = le32toh(para->hash_start_src_offset);
	op->hash_len = le32toh(para->len_to_hash);
	op->mac_len = le32toh(para->hash_result_len);
	*dst_len = le32toh(para->dst_data_len);
}

static int parse(const struct virtio_crypto_op_data_req *req,
		 struct card_op *op, uint32_t *dst_len)
{
	switch (le32toh(req->header.opcode)) {
	case VIRTIO_CRYPTO_CIPHER_ENCRYPT:
		break;
	case VIRTIO_CRYPTO_CIPHER_DECRYPT:
		op->decrypt = true;
		break;
	default:
		return VIRTIO_CRYPTO_NOTSUPP;
	}
	switch (le32toh(req->u.sym_req.op_type)) {
	case VIRTIO_CRYPTO_SYM_OP_CIPHER:
		cipher_op(&req->u.sym_req.u.cipher.para, op, dst_len);
		return VIRTIO_CRYPTO_OK;
	case VIRTIO_CRYPTO_SYM_OP_ALGORITHM_CHAINING:
		chain_op(&req->u.sym_req.u.chain.para, op, dst_len);
		return VIRTIO_CRYPTO_OK;
	}
	return VIRTIO_CRYPTO_NOTSUPP;
}

static bool inside(uint32_t start, uint32_t len, uint32_t whole)
{
	return start <= whole && len <= whole - start;
}

/*
 * Returns whether the lengths, which the guest may invent, fit in its buffers
 * of @given and @room bytes.
 */
static bool lengths_fit(const struct card_op *op, uint32_t dst_len,
			size_t given, size_t room)
{
	uint64_t in = (uint64_t)op->iv_len + op->aad_len + op->data_len;
	uint64_t out = (uint64_t)op->data_len + op->mac_len;

	return in <= given && in <= CARD_MAX_BYTES && out <= room &&
	       dst_len == op->data_len &&
	       inside(op->cipher_start, op->cipher_len, op->data_len) &&
	       inside(op->hash_start, op->hash_len, op->data_len);
}

/* Computes an answer, data and MAC, from @in: the guest's IV, AAD and data. */
static uint8_t crypt(struct card_session *session, struct card_op *op,
		     const uint8_t *in, struct card_result *result)
{
	result->len = op->data_len + op->mac_len;
	result->data = malloc(result->len + 1);
	if (!result->data)
		return VIRTIO_CRYPTO_ERR;
	op->iv = in;
	op->aad = in + op->iv_len;
	op->src = op->aad + op->aad_len;
	op->dst = result->data;
	op->mac = result->data + op->data_len;
	return card_crypt(session, op);
}

static uint8_t request(const struct iovec *out, unsigned int num, size_t room,
		       struct card_result *result)
{
	size_t len, size = card_iov_size(out, num);
	struct virtio_crypto_op_data_req req;
	struct card_session *session;
	struct card_op op = { 0 };
	uint32_t dst_len = 0;
	uint8_t status, *in;

	if (card_iov_read(out, num, 0, &req, sizeof(req)) != sizeof(req))
		return VIRTIO_CRYPTO_ERR;
	status = parse(&req, &op, &dst_len);
	if (status != VIRTIO_CRYPTO_OK)
		return status;
	session = card_sessions_find(le64toh(req.header.session_id));
	if (!session)
		return VIRTIO_CRYPTO_INVSESS;
	if (!lengths_fit(&op, dst_len, size - sizeof(req), room))
		return VIRTIO_CRYPTO_ERR;

	len = op.iv_len + op.aad_len + op.data_len;
	in = malloc(len + 1);
	if (!in)
		return VIRTIO_CRYPTO_ERR;
	card_iov_read(out, num, sizeof(req), in, len);
	status = crypt(session, &op, in, result);
	free(in);
	return status;
}

void card_request(const struct iovec *out, unsigned int num, size_t room,
		  struct card_result *result)
{
	*result = (struct card_result){ 0 };
	result->status = request(out, num, room, result);
	if (result->status == VIRTIO_CRYPTO_OK)
		return;
	free(result->data);
	result->data = NULL;
	result->len = 0;
}
