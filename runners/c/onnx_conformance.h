/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire format of onnx-conformance, for a runner in C: a program that runs models on one runtime.
 *
 * backends/README.md describes the format. This header implements the side of the runner: it reads requests from
 * standard input and writes answers to standard output. It needs C99 or C++11, and POSIX for read(), write() and dup().
 *
 *     #include "onnx_conformance.h"
 *
 *     int main(void) {
 *       oc_channel channel;
 *       oc_request request;
 *       oc_open(&channel);
 *       oc_hello(&channel, "{\"name\":\"mine\",\"runtime\":\"mine\",\"version\":\"1.0\"}");
 *       while (oc_read(&channel, &request)) {
 *         oc_value output = ...;  // run request.model on request.inputs
 *         oc_answer(&channel, &request, &output, 1, NULL);
 *       }
 *       return 0;
 *     }
 *
 * A request that does not follow the format ends the program: one line on standard error, exit status 2. The next
 * oc_read() frees all memory of a request. pack_reader.c uses the JSON reader below, too.
 */
#ifndef ONNX_CONFORMANCE_H
#define ONNX_CONFORMANCE_H

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OC_PROTOCOL 1
#define OC_MAX_HEADER ((size_t)64 << 20)  /* bytes of a header line */
#define OC_MAX_PAYLOAD ((int64_t)1 << 30) /* bytes of a payload */
#define OC_MAX_DEPTH 32                   /* values in values */
#define OC_MAX_RANK 64                    /* dimensions of a tensor */
#define OC_MAX_NESTING 160                /* arrays and objects of JSON in each other */
#define OC_MAX_PARTS ((size_t)1 << 21)    /* values of JSON in one text */
#define OC_MAX_FIELDS 256                 /* fields of an object of JSON */
#define OC_EXIT_MALFORMED 2               /* exit status if a request or a file is malformed */
#define OC_STRING 8                       /* element types of TensorProto.DataType that need special treatment */
#define OC_BOOL 9

#if defined(__GNUC__) || defined(__clang__)
#define OC_PRINTF __attribute__((format(printf, 1, 2)))
#define OC_NORETURN __attribute__((noreturn))
#else
#define OC_PRINTF
#define OC_NORETURN
#endif

/* Print one line on standard error and end the program with status 2, without the destructors of a runtime. */
static inline void oc_fail(const char *format, ...) OC_PRINTF OC_NORETURN;
static inline void oc_fail(const char *format, ...) {
  char text[400], *c;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  for (c = text; *c != '\0'; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = '?';
  fprintf(stderr, "onnx_conformance: %s\n", text);
  fflush(stderr);
  _Exit(OC_EXIT_MALFORMED);
}

/* ---- Memory: blocks that are freed together ---- */

typedef struct oc_block {
  struct oc_block *next;
  size_t used, room;
} oc_block;

typedef struct {
  oc_block *blocks;
} oc_arena;

#define OC_ALIGNMENT ((size_t)16)
#define OC_BLOCK_HEAD ((sizeof(oc_block) + OC_ALIGNMENT - 1) / OC_ALIGNMENT * OC_ALIGNMENT)
#define OC_BLOCK_ROOM ((size_t)1 << 16)

/* Return uninitialized memory with an alignment of 16 bytes; never NULL. */
static inline void *oc_alloc(oc_arena *arena, size_t size) {
  oc_block *block = arena->blocks;
  unsigned char *memory;
  if (size > SIZE_MAX / 2) oc_fail("%zu bytes of memory are not available", size);
  size = (size + OC_ALIGNMENT) / OC_ALIGNMENT * OC_ALIGNMENT;
  if (block == NULL || block->room - block->used < size) {
    size_t room = size > OC_BLOCK_ROOM ? size : OC_BLOCK_ROOM;
    block = (oc_block *)malloc(OC_BLOCK_HEAD + room);
    if (block == NULL) oc_fail("%zu bytes of memory are not available", room);
    block->next = arena->blocks;
    block->used = 0;
    block->room = room;
    arena->blocks = block;
  }
  memory = (unsigned char *)block + OC_BLOCK_HEAD + block->used;
  block->used += size;
  return memory;
}

/* Return memory for `count` objects of `size` bytes. */
static inline void *oc_alloc_array(oc_arena *arena, size_t count, size_t size) {
  if (count > SIZE_MAX / 2 / size) oc_fail("%zu times %zu bytes of memory are not available", count, size);
  return oc_alloc(arena, count * size);
}

static inline void oc_free_all(oc_arena *arena) {
  while (arena->blocks != NULL) {
    oc_block *next = arena->blocks->next;
    free(arena->blocks);
    arena->blocks = next;
  }
}

/* ---- Texts and JSON ---- */

/* Bytes with a length, because a text may contain NUL; a NUL that does not count follows them. */
typedef struct {
  const char *bytes;
  size_t size;
} oc_text;

static inline int oc_equal(oc_text text, const char *word) {
  return text.size == strlen(word) && memcmp(text.bytes, word, text.size) == 0;
}

typedef enum { OC_JSON_NULL, OC_JSON_FALSE, OC_JSON_TRUE, OC_JSON_INTEGER, OC_JSON_FRACTION, OC_JSON_TEXT,
               OC_JSON_ARRAY, OC_JSON_OBJECT } oc_json_kind;

/* A value of JSON. The members of arrays and objects are a list: `first`, and then `next` of each. */
typedef struct oc_json {
  oc_json_kind kind;
  oc_text key;              /* the name of this member of an object */
  oc_text text;             /* of a text */
  int64_t integer;          /* of an integer: a number without fraction and exponent that fits 64 bits */
  size_t count;             /* the number of members */
  struct oc_json *first, *next;
} oc_json;

typedef struct {
  char *begin, *at, *end;
  oc_arena *arena;
  size_t parts;
  const char *where;        /* names the text in messages */
} oc_json_reader;

static inline void oc_json_fail(const oc_json_reader *reader, const char *problem) OC_NORETURN;
static inline void oc_json_fail(const oc_json_reader *reader, const char *problem) {
  oc_fail("%s is not valid JSON: %s at byte %zu", reader->where, problem, (size_t)(reader->at - reader->begin));
}

static inline void oc_json_blanks(oc_json_reader *reader) {
  while (reader->at < reader->end && memchr(" \t\r\n", *reader->at, 4) != NULL) reader->at++;
}

static inline unsigned oc_json_hex(oc_json_reader *reader) {
  unsigned code = 0;
  int digit;
  for (digit = 0; digit < 4; digit++, reader->at++) {
    unsigned char c = reader->at < reader->end ? (unsigned char)*reader->at : 0;
    if (c >= '0' && c <= '9') code = code * 16 + (unsigned)(c - '0');
    else if (c >= 'a' && c <= 'f') code = code * 16 + (unsigned)(c - 'a') + 10;
    else if (c >= 'A' && c <= 'F') code = code * 16 + (unsigned)(c - 'A') + 10;
    else oc_json_fail(reader, "four hexadecimal digits are expected after \\u");
  }
  return code;
}

/* Return how many bytes a character of UTF-8 has, or 0 if the bytes are not UTF-8. */
static inline size_t oc_utf8(const char *text, size_t left) {
  const unsigned char *c = (const unsigned char *)text;
  size_t size = c[0] < 0x80 ? 1 : c[0] >= 0xC2 && c[0] < 0xE0 ? 2 : c[0] >= 0xE0 && c[0] < 0xF0 ? 3
              : c[0] >= 0xF0 && c[0] < 0xF5 ? 4 : 0;
  size_t i;
  if (size == 0 || size > left) return 0;
  for (i = 1; i < size; i++)
    if ((c[i] & 0xC0) != 0x80) return 0;
  if ((c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] > 0x9F) || (c[0] == 0xF0 && c[1] < 0x90) ||
      (c[0] == 0xF4 && c[1] > 0x8F)) return 0;
  return size;
}

/* Write the character of an escape \uXXXX, whose digits follow; return the end of the written bytes.
 * A lone surrogate from DC80 to DCFF is a byte that is not UTF-8: backends/README.md, "Values". */
static inline char *oc_json_escaped(oc_json_reader *reader, char *to) {
  unsigned code = oc_json_hex(reader);
  if (code >= 0xD800 && code < 0xDC00 && reader->end - reader->at >= 2 && memcmp(reader->at, "\\u", 2) == 0) {
    unsigned low;
    reader->at += 2;
    low = oc_json_hex(reader);
    if (low < 0xDC00 || low > 0xDFFF) oc_json_fail(reader, "half of a surrogate pair");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  if (code >= 0xDC80 && code <= 0xDCFF) {
    *to++ = (char)(code - 0xDC00);
  } else if (code >= 0xD800 && code <= 0xDFFF) {
    oc_json_fail(reader, "half of a surrogate pair");
  } else if (code < 0x80) {
    *to++ = (char)code;
  } else if (code < 0x800) {
    *to++ = (char)(0xC0 | code >> 6);
    *to++ = (char)(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *to++ = (char)(0xE0 | code >> 12);
    *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    *to++ = (char)(0x80 | (code & 0x3F));
  } else {
    *to++ = (char)(0xF0 | code >> 18);
    *to++ = (char)(0x80 | (code >> 12 & 0x3F));
    *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    *to++ = (char)(0x80 | (code & 0x3F));
  }
  return to;
}

/* Read a text whose first quotation mark is next. It is decoded in place, because it only becomes shorter. */
static inline oc_text oc_json_text(oc_json_reader *reader) {
  oc_text text;
  char *to = ++reader->at;
  text.bytes = to;
  for (;;) {
    char c;
    if (reader->at >= reader->end) oc_json_fail(reader, "a text without end");
    c = *reader->at;
    if (c == '"') break;
    if ((unsigned char)c < 0x20) oc_json_fail(reader, "a control character in a text");
    if (c == '\\') {
      static const char LETTERS[] = "\"\\/bfnrt", MEANINGS[] = "\"\\/\b\f\n\r\t";
      const char *letter;
      c = ++reader->at < reader->end ? *reader->at : '\0';
      letter = c == '\0' ? NULL : strchr(LETTERS, c);
      if (c == 'u') {
        reader->at++;
        to = oc_json_escaped(reader, to);
      } else if (letter != NULL) {
        *to++ = MEANINGS[letter - LETTERS];
        reader->at++;
      } else {
        oc_json_fail(reader, "an unknown escape");
      }
    } else {
      size_t size = oc_utf8(reader->at, (size_t)(reader->end - reader->at));
      if (size == 0) oc_json_fail(reader, "bytes that are not UTF-8");
      memmove(to, reader->at, size);
      to += size;
      reader->at += size;
    }
  }
  text.size = (size_t)(to - text.bytes);
  *to = '\0'; /* At the latest in the place of the last quotation mark. */
  reader->at++;
  return text;
}

static inline int oc_json_digits(oc_json_reader *reader) {
  char *begin = reader->at;
  while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9') reader->at++;
  return reader->at > begin;
}

static inline void oc_json_number(oc_json_reader *reader, oc_json *json) {
  char *begin = reader->at, *digits, *c;
  uint64_t number = 0, most = INT64_MAX;
  int fits = 1;
  if (*reader->at == '-') {
    reader->at++;
    most++;
  }
  digits = reader->at;
  if (!oc_json_digits(reader)) oc_json_fail(reader, "an unexpected character");
  if (*digits == '0' && reader->at - digits > 1) oc_json_fail(reader, "a number that begins with 0");
  for (c = digits; c < reader->at && fits; c++) {
    uint64_t digit = (uint64_t)(*c - '0');
    fits = number <= (most - digit) / 10;
    number = number * 10 + digit;
  }
  json->kind = fits ? OC_JSON_INTEGER : OC_JSON_FRACTION;
  if (reader->at < reader->end && *reader->at == '.') {
    json->kind = OC_JSON_FRACTION;
    reader->at++;
    if (!oc_json_digits(reader)) oc_json_fail(reader, "digits are expected after the point");
  }
  if (reader->at < reader->end && (*reader->at == 'e' || *reader->at == 'E')) {
    json->kind = OC_JSON_FRACTION;
    reader->at++;
    if (reader->at < reader->end && (*reader->at == '+' || *reader->at == '-')) reader->at++;
    if (!oc_json_digits(reader)) oc_json_fail(reader, "digits are expected in the exponent");
  }
  if (json->kind == OC_JSON_INTEGER) json->integer = *begin == '-' ? (int64_t)(0 - number) : (int64_t)number;
}

static inline int oc_json_word(oc_json_reader *reader, const char *word) {
  size_t size = strlen(word);
  if ((size_t)(reader->end - reader->at) < size || memcmp(reader->at, word, size) != 0) return 0;
  reader->at += size;
  return 1;
}

/* Return the member of an object, or NULL. */
static inline const oc_json *oc_get(const oc_json *object, const char *key) {
  const oc_json *member;
  if (object == NULL || object->kind != OC_JSON_OBJECT) return NULL;
  for (member = object->first; member != NULL; member = member->next)
    if (oc_equal(member->key, key)) return member;
  return NULL;
}

static inline oc_json *oc_json_value(oc_json_reader *reader, int nesting);

/* Read the members of an array or object whose first bracket is next. */
static inline void oc_json_members(oc_json_reader *reader, oc_json *json, int nesting) {
  char close = json->kind == OC_JSON_ARRAY ? ']' : '}';
  oc_json **last = &json->first;
  if (nesting >= OC_MAX_NESTING) oc_json_fail(reader, "too many arrays and objects in each other");
  reader->at++;
  oc_json_blanks(reader);
  if (reader->at < reader->end && *reader->at == close) {
    reader->at++;
    return;
  }
  for (;;) {
    oc_text key = {"", 0};
    oc_json_blanks(reader);
    if (json->kind == OC_JSON_OBJECT) {
      const oc_json *other;
      if (reader->at >= reader->end || *reader->at != '"') oc_json_fail(reader, "the name of a field is expected");
      key = oc_json_text(reader);
      if (json->count >= OC_MAX_FIELDS) oc_json_fail(reader, "too many fields in an object");
      for (other = json->first; other != NULL; other = other->next)
        if (other->key.size == key.size && memcmp(other->key.bytes, key.bytes, key.size) == 0)
          oc_json_fail(reader, "a field that occurs twice in an object");
      oc_json_blanks(reader);
      if (!oc_json_word(reader, ":")) oc_json_fail(reader, "a colon is expected");
    }
    *last = oc_json_value(reader, nesting + 1);
    (*last)->key = key;
    last = &(*last)->next;
    json->count++;
    oc_json_blanks(reader);
    if (reader->at < reader->end && *reader->at == close) {
      reader->at++;
      return;
    }
    if (!oc_json_word(reader, ",")) oc_json_fail(reader, "a comma or the end of a list is expected");
  }
}

static inline oc_json *oc_json_value(oc_json_reader *reader, int nesting) {
  oc_json *json;
  if (++reader->parts > OC_MAX_PARTS) oc_json_fail(reader, "too many values");
  json = (oc_json *)oc_alloc(reader->arena, sizeof *json);
  memset(json, 0, sizeof *json);
  oc_json_blanks(reader);
  if (reader->at >= reader->end) oc_json_fail(reader, "an unexpected end");
  switch (*reader->at) {
    case '{':
      json->kind = OC_JSON_OBJECT;
      oc_json_members(reader, json, nesting);
      break;
    case '[':
      json->kind = OC_JSON_ARRAY;
      oc_json_members(reader, json, nesting);
      break;
    case '"':
      json->kind = OC_JSON_TEXT;
      json->text = oc_json_text(reader);
      break;
    default:
      if (oc_json_word(reader, "null")) json->kind = OC_JSON_NULL;
      else if (oc_json_word(reader, "true")) json->kind = OC_JSON_TRUE;
      else if (oc_json_word(reader, "false")) json->kind = OC_JSON_FALSE;
      else oc_json_number(reader, json);
  }
  return json;
}

/* Return the value of a text of JSON, which is changed; `where` names it in messages. */
static inline const oc_json *oc_json_parse(oc_arena *arena, char *bytes, size_t size, const char *where) {
  oc_json_reader reader;
  oc_json *json;
  reader.begin = reader.at = bytes;
  reader.end = bytes + size;
  reader.arena = arena;
  reader.parts = 0;
  reader.where = where;
  json = oc_json_value(&reader, 0);
  oc_json_blanks(&reader);
  if (reader.at != reader.end) oc_json_fail(&reader, "something follows the value");
  return json;
}

/* Return a member of an object that must be of some kind. */
static inline const oc_json *oc_member(const oc_json *object, const char *key, oc_json_kind kind, const char *where) {
  static const char *const KINDS[] = {"null", "false", "true", "an integer", "a number", "a string", "an array",
                                      "an object"};
  const oc_json *member = oc_get(object, key);
  if (member == NULL) oc_fail("%s has no field \"%s\"; expected %s", where, key, KINDS[kind]);
  if (member->kind != kind) oc_fail("%s: the field \"%s\" has to be %s", where, key, KINDS[kind]);
  return member;
}

/* Return a member of an object that must be an integer from 0 to `most`. */
static inline int64_t oc_size_member(const oc_json *object, const char *key, int64_t most, const char *where) {
  int64_t number = oc_member(object, key, OC_JSON_INTEGER, where)->integer;
  if (number < 0 || number > most)
    oc_fail("%s: \"%s\" is %lld; expected 0 to %lld", where, key, (long long)number, (long long)most);
  return number;
}

/* ---- Values ---- */

typedef enum { OC_TENSOR, OC_SEQUENCE, OC_MAP, OC_OPTIONAL } oc_kind;

/* A value of ONNX. Fields of another kind than its own are 0. */
typedef struct oc_value {
  oc_kind kind;
  int type;                 /* tensor: the number of TensorProto.DataType */
  size_t rank;              /* tensor: the number of dimensions */
  const int64_t *shape;     /* tensor: its dimensions */
  uint64_t elements;        /* tensor: the product of its dimensions */
  const void *data;         /* tensor: `size` bytes as in TensorProto.raw_data; the alignment is 16 */
  size_t size;
  const oc_text *strings;   /* tensor of strings: its elements, instead of data */
  size_t count;             /* number of items: of a sequence, of the values of a map, 0 or 1 of an optional */
  struct oc_value *items;
  struct oc_value *keys;    /* map: a tensor of rank 1, one key for each item */
} oc_value;

/* Return the bits of an element in raw_data, 0 for strings, or -1 if there is no such element type. */
static inline int oc_bits(int64_t type) {
  static const unsigned char BITS[] = {0,  32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64, 64,
                                       128, 16, 8, 8, 8, 8,  4,  4,  4, 8, 2,  2,  6,  6};
  return type >= 1 && type < (int64_t)sizeof BITS ? BITS[type] : -1;
}

/* Return the name of an element type, such as "float16", or NULL. */
static inline const char *oc_type_name(int64_t type) {
  static const char *const NAMES[] = {
      "", "float", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16", "double",
      "uint32", "uint64", "complex64", "complex128", "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
      "float8e5m2fnuz", "uint4", "int4", "float4e2m1", "float8e8m0", "uint2", "int2", "float6e2m3", "float6e3m2"};
  return oc_bits(type) < 0 ? NULL : NAMES[type];
}

/* Compute the number of elements, and of their bytes in raw_data; return 0 if they do not fit 63 bits. */
static inline int oc_sizes(int type, const int64_t *shape, size_t rank, uint64_t *elements, uint64_t *bytes) {
  uint64_t count = 1, bits = (uint64_t)oc_bits(type);
  size_t i;
  for (i = 0; i < rank; i++)
    if (shape[i] == 0) count = 0;
  for (i = 0; i < rank && count != 0; i++) {
    if (count > (uint64_t)INT64_MAX / (uint64_t)shape[i]) return 0;
    count *= (uint64_t)shape[i];
  }
  if (bits != 0 && count > ((uint64_t)INT64_MAX - 7) / bits) return 0;
  *elements = count;
  *bytes = (count * bits + 7) / 8;
  return 1;
}

/* Fill in a tensor; its bytes, as in raw_data, and its shape are not copied. Strings have `strings` instead of data. */
static inline oc_value oc_tensor(int type, const int64_t *shape, size_t rank, const void *data,
                                 const oc_text *strings) {
  oc_value value;
  uint64_t bytes = 0;
  memset(&value, 0, sizeof value);
  value.kind = OC_TENSOR;
  value.type = type;
  value.rank = rank;
  value.shape = shape;
  value.data = data;
  value.strings = strings;
  if (oc_bits(type) < 0) oc_fail("an output has the element type %d, which ONNX does not have", type);
  if (!oc_sizes(type, shape, rank, &value.elements, &bytes) || bytes > (uint64_t)OC_MAX_PAYLOAD)
    oc_fail("an output of type %s has over %lld bytes", oc_type_name(type), (long long)OC_MAX_PAYLOAD);
  value.size = (size_t)bytes;
  return value;
}

/* Fill in a sequence, a map (with keys) or an optional (with 0 or 1 items). */
static inline oc_value oc_container(oc_kind kind, oc_value *items, size_t count, oc_value *keys) {
  oc_value value;
  memset(&value, 0, sizeof value);
  value.kind = kind;
  value.items = items;
  value.count = count;
  value.keys = keys;
  return value;
}

/* ---- Requests ---- */

typedef struct {
  oc_text name;
  oc_value value;
} oc_input;

typedef struct {
  oc_text name;
  const void *data;
  size_t size;
} oc_file;

typedef struct {
  int64_t id;
  const void *model;        /* a serialized ModelProto */
  size_t model_size;
  const oc_file *files;     /* external data next to the model */
  size_t file_count;
  int has_earlier;          /* whether the session first runs the model with `earlier` */
  const oc_input *earlier;
  size_t earlier_count;
  const oc_input *inputs;
  size_t input_count;
  const oc_text *outputs;   /* the names of the outputs to return */
  size_t output_count;
  oc_arena arena;           /* for memory that is needed until the next request */
} oc_request;

typedef struct {
  int in, out;
  char *buffer;             /* bytes that were read, but not used */
  size_t used, filled, room;
  int has_request;
} oc_channel;

/* Begin. From now on, output of the runtime to standard output goes to standard error. */
static inline void oc_open(oc_channel *channel) {
  memset(channel, 0, sizeof *channel);
  channel->in = 0;
  channel->out = dup(1);
  if (channel->out < 0 || dup2(2, 1) < 0) oc_fail("the standard output cannot be redirected: %s", strerror(errno));
}

/* Read at most `size` bytes; return how many, 0 at the end. */
static inline size_t oc_read_some(const oc_channel *channel, void *to, size_t size) {
  for (;;) {
    ssize_t got = read(channel->in, to, size);
    if (got >= 0) return (size_t)got;
    if (errno != EINTR) oc_fail("the standard input cannot be read: %s", strerror(errno));
  }
}

/* Return the next line without its line end, in the memory of the request; NULL at the end of the input. */
static inline char *oc_read_line(oc_channel *channel, oc_arena *arena, size_t *size) {
  size_t scanned = channel->used;
  for (;;) {
    char *end = channel->filled > scanned
                    ? (char *)memchr(channel->buffer + scanned, '\n', channel->filled - scanned) : NULL;
    if (end != NULL) {
      char *line;
      *size = (size_t)(end - channel->buffer) - channel->used;
      line = (char *)oc_alloc(arena, *size + 1);
      memcpy(line, channel->buffer + channel->used, *size);
      channel->used += *size + 1;
      return line;
    }
    if (channel->used > 0) {
      channel->filled -= channel->used;
      memmove(channel->buffer, channel->buffer + channel->used, channel->filled);
      channel->used = 0;
    }
    scanned = channel->filled;
    if (scanned > OC_MAX_HEADER) oc_fail("a header line has over %zu bytes", OC_MAX_HEADER);
    if (channel->room - channel->filled < OC_BLOCK_ROOM) {
      channel->room = 2 * channel->room + 2 * OC_BLOCK_ROOM;
      channel->buffer = (char *)realloc(channel->buffer, channel->room);
      if (channel->buffer == NULL) oc_fail("%zu bytes of memory are not available", channel->room);
    }
    *size = oc_read_some(channel, channel->buffer + channel->filled, channel->room - channel->filled);
    if (*size == 0) {
      if (channel->filled > 0) oc_fail("the input ends inside a header line, after %zu bytes", channel->filled);
      return NULL;
    }
    channel->filled += *size;
  }
}

static inline unsigned char *oc_read_payload(oc_channel *channel, oc_arena *arena, size_t size) {
  unsigned char *payload = (unsigned char *)oc_alloc(arena, size);
  size_t held = channel->filled - channel->used, got = held < size ? held : size;
  memcpy(payload, channel->buffer + channel->used, got);
  channel->used += got;
  while (got < size) {
    size_t more = oc_read_some(channel, payload + got, size - got);
    if (more == 0) oc_fail("the input ends after %zu of the %zu bytes of a payload", got, size);
    got += more;
  }
  return payload;
}

typedef struct {
  oc_arena *arena;
  const unsigned char *payload;
  size_t at, size;
} oc_decoder;

/* Return the next bytes of the payload. */
static inline const unsigned char *oc_take(oc_decoder *decoder, uint64_t size, const char *what) {
  const unsigned char *bytes = decoder->payload + decoder->at;
  if (size > decoder->size - decoder->at)
    oc_fail("%s needs %llu bytes, but %zu bytes are left of the payload", what, (unsigned long long)size,
            decoder->size - decoder->at);
  decoder->at += (size_t)size;
  return bytes;
}

static inline void oc_decode_tensor(oc_decoder *decoder, const oc_json *json, oc_value *value) {
  const oc_json *shape = oc_member(json, "shape", OC_JSON_ARRAY, "a tensor"), *item;
  int64_t type = oc_member(json, "type", OC_JSON_INTEGER, "a tensor")->integer, *dims;
  uint64_t bytes = 0;
  size_t i;
  if (oc_bits(type) < 0)
    oc_fail("a tensor has the element type %lld; expected a number of TensorProto.DataType", (long long)type);
  if (shape->count > OC_MAX_RANK)
    oc_fail("a tensor has %zu dimensions; expected at most %d", shape->count, OC_MAX_RANK);
  dims = (int64_t *)oc_alloc_array(decoder->arena, shape->count, sizeof *dims);
  for (item = shape->first, i = 0; item != NULL; item = item->next, i++) {
    if (item->kind != OC_JSON_INTEGER || item->integer < 0)
      oc_fail("a dimension of a tensor is not an integer from 0 to 2**63 - 1");
    dims[i] = item->integer;
  }
  value->kind = OC_TENSOR;
  value->type = (int)type;
  value->rank = shape->count;
  value->shape = dims;
  if (!oc_sizes(value->type, dims, value->rank, &value->elements, &bytes)) oc_fail("a tensor has over 2**63 bytes");
  if (type == OC_STRING) {
    const oc_json *strings = oc_member(json, "strings", OC_JSON_ARRAY, "a tensor of strings");
    oc_text *texts;
    if (strings->count != value->elements)
      oc_fail("a tensor of %llu strings has %zu", (unsigned long long)value->elements, strings->count);
    texts = (oc_text *)oc_alloc_array(decoder->arena, strings->count, sizeof *texts);
    for (item = strings->first, i = 0; item != NULL; item = item->next, i++) {
      if (item->kind != OC_JSON_TEXT) oc_fail("an element of a tensor of strings is not a string");
      texts[i] = item->text;
    }
    value->strings = texts;
    return;
  }
  {
    const unsigned char *source = oc_take(decoder, bytes, "a tensor");
    unsigned char *data = (unsigned char *)oc_alloc(decoder->arena, (size_t)bytes);
    memcpy(data, source, (size_t)bytes);
    value->data = data;
    value->size = (size_t)bytes;
    for (i = 0; type == OC_BOOL && i < value->size; i++)
      if (data[i] > 1) oc_fail("an element of a bool tensor is the byte %u; expected 0 or 1", data[i]);
  }
}

static inline int oc_compare_texts(const void *left, const void *right) {
  const oc_text *a = (const oc_text *)left, *b = (const oc_text *)right;
  int order = memcmp(a->bytes, b->bytes, a->size < b->size ? a->size : b->size);
  return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

static inline void oc_check_keys(oc_decoder *decoder, const oc_value *keys, size_t values) {
  static const char INTEGERS[] = {2, 3, 4, 5, 6, 7, 12, 13, 0};
  oc_text *sorted;
  size_t i, width = (size_t)(oc_bits(keys->type) / 8);
  if (keys->kind != OC_TENSOR || keys->rank != 1 || (keys->type != OC_STRING && strchr(INTEGERS, keys->type) == NULL))
    oc_fail("the keys of a map have to be a tensor of rank 1, of strings or integers");
  if (keys->elements != values)
    oc_fail("a map has %llu keys and %zu values", (unsigned long long)keys->elements, values);
  sorted = (oc_text *)oc_alloc_array(decoder->arena, values, sizeof *sorted);
  for (i = 0; i < values; i++) {
    sorted[i].bytes = (const char *)keys->data + i * width;
    sorted[i].size = width;
    if (keys->type == OC_STRING) sorted[i] = keys->strings[i];
  }
  qsort(sorted, values, sizeof *sorted, oc_compare_texts);
  for (i = 1; i < values; i++)
    if (oc_compare_texts(&sorted[i - 1], &sorted[i]) == 0) oc_fail("a key of a map occurs twice");
}

static inline void oc_decode(oc_decoder *decoder, const oc_json *json, oc_value *value, int depth) {
  oc_text kind = oc_member(json, "kind", OC_JSON_TEXT, "a value")->text;
  const oc_json *item, *items = NULL;
  size_t i = 0;
  memset(value, 0, sizeof *value);
  if (depth > OC_MAX_DEPTH) oc_fail("values are over %d deep in each other", OC_MAX_DEPTH);
  if (oc_equal(kind, "tensor")) {
    oc_decode_tensor(decoder, json, value);
    return;
  }
  if (oc_equal(kind, "sequence")) {
    value->kind = OC_SEQUENCE;
    items = oc_member(json, "items", OC_JSON_ARRAY, "a sequence");
    value->count = items->count;
    item = items->first;
  } else if (oc_equal(kind, "map")) {
    value->kind = OC_MAP;
    value->keys = (oc_value *)oc_alloc(decoder->arena, sizeof *value);
    oc_decode(decoder, oc_member(json, "keys", OC_JSON_OBJECT, "a map"), value->keys, depth + 1);
    items = oc_member(json, "values", OC_JSON_ARRAY, "a map");
    value->count = items->count;
    item = items->first;
    oc_check_keys(decoder, value->keys, value->count);
  } else if (oc_equal(kind, "optional")) {
    value->kind = OC_OPTIONAL;
    item = oc_get(json, "item");
    if (item != NULL && item->kind == OC_JSON_NULL) item = NULL;
    value->count = item != NULL;
  } else {
    oc_fail("a value has the kind \"%.40s\"; expected tensor, sequence, map or optional", kind.bytes);
  }
  value->items = (oc_value *)oc_alloc_array(decoder->arena, value->count, sizeof *value);
  for (i = 0; i < value->count; item = item->next, i++) {
    if (item->kind != OC_JSON_OBJECT) oc_fail("a value has to be an object");
    oc_decode(decoder, item, &value->items[i], depth + 1);
  }
}

static inline const oc_input *oc_decode_inputs(oc_decoder *decoder, const oc_json *listed) {
  oc_input *inputs = (oc_input *)oc_alloc_array(decoder->arena, listed->count, sizeof *inputs);
  const oc_json *item;
  size_t i = 0;
  for (item = listed->first; item != NULL; item = item->next, i++) {
    inputs[i].name = oc_member(item, "name", OC_JSON_TEXT, "an input")->text;
    oc_decode(decoder, oc_member(item, "value", OC_JSON_OBJECT, "an input"), &inputs[i].value, 0);
  }
  return inputs;
}

static inline const oc_file *oc_decode_files(oc_decoder *decoder, const oc_json *listed) {
  oc_file *files = (oc_file *)oc_alloc_array(decoder->arena, listed->count, sizeof *files);
  const oc_json *item;
  size_t i = 0;
  for (item = listed->first; item != NULL; item = item->next, i++) {
    files[i].name = oc_member(item, "name", OC_JSON_TEXT, "a file")->text;
    files[i].size = (size_t)oc_size_member(item, "size", OC_MAX_PAYLOAD, "a file");
    files[i].data = oc_take(decoder, files[i].size, "a file");
  }
  return files;
}

/* Read the next request, and free the previous one. Return 0 at the end of the input. */
static inline int oc_read(oc_channel *channel, oc_request *request) {
  static const char WHERE[] = "the header of a request";
  const oc_json *header, *item, *listed;
  oc_decoder decoder;
  oc_text *names;
  char *line;
  size_t size = 0, i = 0;
  if (channel->has_request) oc_free_all(&request->arena);
  channel->has_request = 1;
  memset(request, 0, sizeof *request);
  line = oc_read_line(channel, &request->arena, &size);
  if (line == NULL) {
    oc_free_all(&request->arena);
    free(channel->buffer);
    memset(channel, 0, sizeof *channel);
    return 0;
  }
  header = oc_json_parse(&request->arena, line, size, WHERE);
  if (header->kind != OC_JSON_OBJECT) oc_fail("%s is not an object", WHERE);
  if (!oc_equal(oc_member(header, "kind", OC_JSON_TEXT, WHERE)->text, "run"))
    oc_fail("a request has the kind \"%.40s\"; expected run", oc_get(header, "kind")->text.bytes);
  request->id = oc_member(header, "id", OC_JSON_INTEGER, WHERE)->integer;
  decoder.arena = &request->arena;
  decoder.at = 0;
  decoder.size = (size_t)oc_size_member(header, "payload", OC_MAX_PAYLOAD, WHERE);
  request->model_size = (size_t)oc_size_member(header, "model", OC_MAX_PAYLOAD, WHERE);
  decoder.payload = oc_read_payload(channel, &request->arena, decoder.size);
  request->model = oc_take(&decoder, request->model_size, "the model");
  if (oc_get(header, "files") != NULL) {
    listed = oc_member(header, "files", OC_JSON_ARRAY, WHERE);
    request->file_count = listed->count;
    request->files = oc_decode_files(&decoder, listed);
  }
  if (oc_get(header, "earlier") != NULL && oc_get(header, "earlier")->kind != OC_JSON_NULL) {
    listed = oc_member(header, "earlier", OC_JSON_ARRAY, WHERE);
    request->has_earlier = 1;
    request->earlier_count = listed->count;
    request->earlier = oc_decode_inputs(&decoder, listed);
  }
  listed = oc_member(header, "inputs", OC_JSON_ARRAY, WHERE);
  request->input_count = listed->count;
  request->inputs = oc_decode_inputs(&decoder, listed);
  if (decoder.at != decoder.size)
    oc_fail("%zu bytes of a payload follow the last tensor", decoder.size - decoder.at);
  listed = oc_member(header, "outputs", OC_JSON_ARRAY, WHERE);
  names = (oc_text *)oc_alloc_array(&request->arena, listed->count, sizeof *names);
  for (item = listed->first; item != NULL; item = item->next, i++) {
    if (item->kind != OC_JSON_TEXT) oc_fail("the name of an output is not a string");
    names[i] = item->text;
  }
  request->outputs = names;
  request->output_count = listed->count;
  return 1;
}

/* ---- Answers ---- */

/* Further fields of an answer; zeros leave them out. */
typedef struct {
  double seconds;           /* the time of the runtime, including loading the model */
  const char *phase;        /* of `refused` and `unsupported`: "load" or "run" */
  oc_text assigned;         /* JSON of the field `assigned`: which execution provider runs which node */
} oc_extra;

typedef struct {
  char *bytes;
  size_t size, room;
} oc_buffer;

static inline void oc_put(oc_buffer *buffer, const char *bytes, size_t size) {
  if (buffer->room - buffer->size < size) {
    buffer->room = 2 * buffer->room + size + 1024;
    buffer->bytes = (char *)realloc(buffer->bytes, buffer->room);
    if (buffer->bytes == NULL) oc_fail("%zu bytes of memory are not available", buffer->room);
  }
  memcpy(buffer->bytes + buffer->size, bytes, size);
  buffer->size += size;
}

static inline void oc_put_word(oc_buffer *buffer, const char *word) { oc_put(buffer, word, strlen(word)); }

static inline void oc_put_integer(oc_buffer *buffer, int64_t number) {
  char text[32];
  oc_put(buffer, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)number));
}

/* Append a string of JSON; a byte that is not UTF-8 becomes \udc80 to \udcff. */
static inline void oc_put_text(oc_buffer *buffer, const char *bytes, size_t size) {
  char escaped[8];
  size_t at, length;
  oc_put(buffer, "\"", 1);
  for (at = 0; at < size; at += length) {
    unsigned char c = (unsigned char)bytes[at];
    length = oc_utf8(bytes + at, size - at);
    if (length == 0) {
      length = 1;
      oc_put(buffer, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\udc%02x", c));
    } else if (c < 0x20 || c == '"' || c == '\\') {
      oc_put(buffer, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\u%04x", c));
    } else {
      oc_put(buffer, bytes + at, length);
    }
  }
  oc_put(buffer, "\"", 1);
}

static inline void oc_put_member(oc_buffer *buffer, const char *key, const char *text) {
  oc_put_word(buffer, ",\"");
  oc_put_word(buffer, key);
  oc_put_word(buffer, "\":");
  oc_put_text(buffer, text, strlen(text));
}

static inline void oc_write(const oc_channel *channel, const void *bytes, size_t size) {
  const char *at = (const char *)bytes;
  while (size > 0) {
    ssize_t written = write(channel->out, at, size);
    if (written < 0 && errno != EINTR) oc_fail("an answer cannot be written: %s", strerror(errno));
    if (written > 0) {
      at += written;
      size -= (size_t)written;
    }
  }
}

static inline void oc_describe(oc_buffer *buffer, const oc_value *value, uint64_t *payload) {
  size_t i;
  if (value->kind == OC_TENSOR) {
    oc_put_word(buffer, "{\"kind\":\"tensor\",\"type\":");
    oc_put_integer(buffer, value->type);
    oc_put_word(buffer, ",\"shape\":[");
    for (i = 0; i < value->rank; i++) {
      if (i > 0) oc_put_word(buffer, ",");
      oc_put_integer(buffer, value->shape[i]);
    }
    oc_put_word(buffer, "]");
    if (value->type == OC_STRING) {
      oc_put_word(buffer, ",\"strings\":[");
      for (i = 0; i < value->elements; i++) {
        if (i > 0) oc_put_word(buffer, ",");
        oc_put_text(buffer, value->strings[i].bytes, value->strings[i].size);
      }
      oc_put_word(buffer, "]");
    }
    *payload += value->size;
  } else if (value->kind == OC_OPTIONAL) {
    oc_put_word(buffer, "{\"kind\":\"optional\",\"item\":");
    if (value->count == 0) oc_put_word(buffer, "null");
    else oc_describe(buffer, value->items, payload);
  } else {
    if (value->kind == OC_MAP) {
      oc_put_word(buffer, "{\"kind\":\"map\",\"keys\":");
      oc_describe(buffer, value->keys, payload);
      oc_put_word(buffer, ",\"values\":[");
    } else {
      oc_put_word(buffer, "{\"kind\":\"sequence\",\"items\":[");
    }
    for (i = 0; i < value->count; i++) {
      if (i > 0) oc_put_word(buffer, ",");
      oc_describe(buffer, &value->items[i], payload);
    }
    oc_put_word(buffer, "]");
  }
  oc_put_word(buffer, "}");
}

static inline void oc_write_data(const oc_channel *channel, const oc_value *value) {
  size_t i;
  if (value->kind == OC_TENSOR) oc_write(channel, value->data, value->size);
  if (value->keys != NULL) oc_write_data(channel, value->keys);
  for (i = 0; i < value->count; i++) oc_write_data(channel, &value->items[i]);
}

static inline oc_buffer oc_begin(const char *kind, const oc_request *request) {
  oc_buffer buffer = {NULL, 0, 0};
  oc_put_word(&buffer, "{\"kind\":\"");
  oc_put_word(&buffer, kind);
  oc_put_word(&buffer, "\"");
  if (request != NULL) {
    oc_put_word(&buffer, ",\"id\":");
    oc_put_integer(&buffer, request->id);
  }
  return buffer;
}

/* Append the last fields of a header, and write it. */
static inline void oc_end(const oc_channel *channel, oc_buffer *buffer, const oc_extra *extra, uint64_t payload) {
  char seconds[64];
  if (extra != NULL && extra->seconds > 0) {
    char *comma;
    snprintf(seconds, sizeof seconds, ",\"seconds\":%.6f", extra->seconds);
    comma = strchr(seconds + 1, ','); /* Some locales write a comma in the place of the point. */
    if (comma != NULL) *comma = '.';
    oc_put_word(buffer, seconds);
  }
  if (extra != NULL && extra->assigned.size > 0) {
    oc_put_word(buffer, ",\"assigned\":");
    oc_put(buffer, extra->assigned.bytes, extra->assigned.size);
  }
  oc_put_word(buffer, ",\"payload\":");
  oc_put_integer(buffer, (int64_t)payload);
  oc_put_word(buffer, "}\n");
  oc_write(channel, buffer->bytes, buffer->size);
  free(buffer->bytes);
}

/* Send the first message. `fields` is an object of JSON: the fields of `hello` except kind, protocol and payload. */
static inline void oc_hello(const oc_channel *channel, const char *fields) {
  oc_buffer buffer = oc_begin("hello", NULL);
  oc_put_word(&buffer, ",\"protocol\":");
  oc_put_integer(&buffer, OC_PROTOCOL);
  if (strlen(fields) > 2) {
    oc_put_word(&buffer, ",");
    oc_put(&buffer, fields + 1, strlen(fields) - 2);
  }
  oc_end(channel, &buffer, NULL, 0);
}

/* Send, instead of hello: the runtime cannot be loaded. */
static inline void oc_failed(const oc_channel *channel, const char *message) {
  oc_buffer buffer = oc_begin("failed", NULL);
  oc_put_member(&buffer, "message", message);
  oc_end(channel, &buffer, NULL, 0);
}

/* Send the outputs of the model, one for each name in request->outputs. `extra` may be NULL, also below. */
static inline void oc_answer(const oc_channel *channel, const oc_request *request, const oc_value *outputs,
                             size_t count, const oc_extra *extra) {
  oc_buffer buffer = oc_begin("answer", request);
  uint64_t payload = 0;
  size_t i;
  oc_put_word(&buffer, ",\"outputs\":[");
  for (i = 0; i < count; i++) {
    if (i > 0) oc_put_word(&buffer, ",");
    oc_describe(&buffer, &outputs[i], &payload);
  }
  oc_put_word(&buffer, "]");
  oc_end(channel, &buffer, extra, payload);
  for (i = 0; i < count; i++) oc_write_data(channel, &outputs[i]);
}

static inline void oc_error(const oc_channel *channel, const oc_request *request, const char *error,
                            const char *message, const char *reason, const oc_extra *extra) {
  oc_buffer buffer = oc_begin(reason == NULL ? "refused" : "unsupported", request);
  oc_put_member(&buffer, "error", error);
  oc_put_member(&buffer, "message", message);
  if (reason != NULL) oc_put_member(&buffer, "reason", reason);
  if (extra != NULL && extra->phase != NULL) oc_put_member(&buffer, "phase", extra->phase);
  oc_end(channel, &buffer, extra, 0);
}

/* Send the error of a runtime that rejects the model or its inputs. */
static inline void oc_refused(const oc_channel *channel, const oc_request *request, const char *error,
                              const char *message, const oc_extra *extra) {
  oc_error(channel, request, error, message, NULL, extra);
}

/* Send the error of a runtime that lacks something; `reason` is the missing feature in a few words. */
static inline void oc_unsupported(const oc_channel *channel, const oc_request *request, const char *error,
                                  const char *message, const char *reason, const oc_extra *extra) {
  oc_error(channel, request, error, message, reason, extra);
}

/* Send an error of the runner itself. */
static inline void oc_fault(const oc_channel *channel, const oc_request *request, const char *message) {
  oc_buffer buffer = oc_begin("fault", request);
  oc_put_member(&buffer, "message", message);
  oc_end(channel, &buffer, NULL, 0);
}

#endif /* ONNX_CONFORMANCE_H */
