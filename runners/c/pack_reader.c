/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the cases of a pack, or extracts one of them. docs/formats.md describes packs.
 *
 *     cc -std=c99 -O2 pack_reader.c -lz -o pack_reader
 *     ./pack_reader FILE               prints the id and the outcome of each case
 *     ./pack_reader FILE CASE FOLDER   writes the model and the tensors of a case to files, and prints a line for each
 *
 * The status is 1 if the case does not exist, and 2 if the file cannot be read. A pack is a zip archive with deflate.
 * zlib decompresses it: every system has zlib, while miniz, which also reads the archive, would be one more dependency
 * to save 60 lines.
 */
#include "onnx_conformance.h"

#include <zlib.h>

#define VERSION 1
#define MAX_FILE ((size_t)4 << 30)
#define END_SIZE 22
#define ENTRY_SIZE 46
#define LOCAL_SIZE 30
#define STORED 0
#define DEFLATED 8

typedef struct {
  const unsigned char *bytes;
  size_t size;
} span;

typedef struct {
  const char *name;         /* of the file */
  span bytes, directory;
  size_t count;             /* entries of the directory */
} pack;

/* Return a little-endian number of up to four bytes. */
static size_t number(const unsigned char *bytes, int size) {
  size_t value = 0;
  while (size-- > 0) value = value << 8 | bytes[size];
  return value;
}

static span slice(span bytes, size_t at, size_t size, const char *what) {
  span found;
  if (at > bytes.size || size > bytes.size - at)
    oc_fail("%s: %zu bytes at position %zu are not in the %zu bytes that there are", what, size, at, bytes.size);
  found.bytes = bytes.bytes + at;
  found.size = size;
  return found;
}

static span read_file(oc_arena *arena, const char *name) {
  FILE *file = fopen(name, "rb");
  span read = {NULL, 0};
  unsigned char *bytes;
  long size = -1;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
  if (size < 0 || (size_t)size > MAX_FILE || fseek(file, 0, SEEK_SET) != 0)
    oc_fail("%s cannot be read: %s", name, strerror(errno));
  bytes = (unsigned char *)oc_alloc(arena, (size_t)size);
  if (fread(bytes, 1, (size_t)size, file) != (size_t)size) oc_fail("%s cannot be read: %s", name, strerror(errno));
  fclose(file);
  read.bytes = bytes;
  read.size = (size_t)size;
  return read;
}

/* Find the directory at the end of an archive. */
static pack open_pack(oc_arena *arena, const char *name) {
  pack opened;
  size_t at;
  opened.name = name;
  opened.bytes = read_file(arena, name);
  at = opened.bytes.size < END_SIZE ? 0 : opened.bytes.size - END_SIZE;
  while (at > 0 && at + END_SIZE + 0xFFFF > opened.bytes.size && memcmp(opened.bytes.bytes + at, "PK\5\6", 4) != 0)
    at--;
  if (opened.bytes.size < END_SIZE || memcmp(opened.bytes.bytes + at, "PK\5\6", 4) != 0)
    oc_fail("%s is no zip archive, or its end is missing", name);
  opened.count = number(opened.bytes.bytes + at + 10, 2);
  if (opened.count == 0xFFFF) oc_fail("%s has the format of zip64, which packs do not need", name);
  opened.directory = slice(opened.bytes, number(opened.bytes.bytes + at + 16, 4),
                           number(opened.bytes.bytes + at + 12, 4), "the directory of the archive");
  return opened;
}

static span inflated(oc_arena *arena, span data, size_t size, const char *name) {
  unsigned char *out = (unsigned char *)oc_alloc(arena, size);
  span result;
  z_stream stream;
  int status;
  memset(&stream, 0, sizeof stream);
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) oc_fail("zlib does not start");
  stream.next_in = (unsigned char *)data.bytes;
  stream.avail_in = (uInt)data.size;
  stream.next_out = out;
  stream.avail_out = (uInt)size;
  status = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (status != Z_STREAM_END || stream.avail_out != 0) oc_fail("%s is damaged: it cannot be decompressed", name);
  result.bytes = out;
  result.size = size;
  return result;
}

/* Return the content of a member. */
static span member(oc_arena *arena, const pack *from, oc_text name) {
  size_t at = 0, i;
  for (i = 0; i < from->count; i++) {
    const unsigned char *entry = slice(from->directory, at, ENTRY_SIZE, "the directory of the archive").bytes;
    span found, local, content;
    if (memcmp(entry, "PK\1\2", 4) != 0) oc_fail("%s: the directory of the archive is damaged", from->name);
    found = slice(from->directory, at + ENTRY_SIZE, number(entry + 28, 2), "the directory of the archive");
    at += ENTRY_SIZE + found.size + number(entry + 30, 2) + number(entry + 32, 2);
    if (found.size != name.size || memcmp(found.bytes, name.bytes, name.size) != 0) continue;
    if (number(entry + 24, 4) > (size_t)OC_MAX_PAYLOAD)
      oc_fail("%s has over %lld bytes", name.bytes, (long long)OC_MAX_PAYLOAD);
    local = slice(from->bytes, number(entry + 42, 4), LOCAL_SIZE, name.bytes);
    if (memcmp(local.bytes, "PK\3\4", 4) != 0) oc_fail("the header of %s is damaged", name.bytes);
    content = slice(from->bytes,
                    number(entry + 42, 4) + LOCAL_SIZE + number(local.bytes + 26, 2) + number(local.bytes + 28, 2),
                    number(entry + 20, 4), name.bytes);
    if (number(entry + 10, 2) == DEFLATED) content = inflated(arena, content, number(entry + 24, 4), name.bytes);
    else if (number(entry + 10, 2) != STORED) oc_fail("%s is not compressed with deflate", name.bytes);
    if (content.size != number(entry + 24, 4) || crc32(0, content.bytes, (uInt)content.size) != number(entry + 16, 4))
      oc_fail("%s was changed: it does not have the checksum of the archive", name.bytes);
    return content;
  }
  oc_fail("%s has no member %s", from->name, name.bytes);
}

/* Parse a copy of some bytes of JSON. */
static const oc_json *parsed(oc_arena *arena, span text, const char *where) {
  char *copy = (char *)oc_alloc(arena, text.size);
  memcpy(copy, text.bytes, text.size);
  return oc_json_parse(arena, copy, text.size, where);
}

static void print_text(oc_text text) { fwrite(text.bytes, 1, text.size, stdout); }

/* ---- One case ---- */

/* Where the bytes of the tensors of an operator are. */
typedef struct {
  oc_arena *arena;
  const pack *from;
  span data; /* the member data.bin of the operator */
} source;

/* Return the bytes of a tensor: a large one is a member of its own, named by the digest of the bytes. */
static span tensor_bytes(const source *from, const oc_json *value, size_t size, const char *stem) {
  char name[100];
  oc_text of_member;
  const oc_json *large = oc_get(value, "large");
  span found;
  if (large == NULL) return slice(from->data, (size_t)oc_size_member(value, "at", OC_MAX_PAYLOAD, stem), size, stem);
  if (large->kind != OC_JSON_TEXT || large->text.size > 64) oc_fail("the tensor %s has no valid digest", stem);
  of_member.size = (size_t)snprintf(name, sizeof name, "large/%.*s", (int)large->text.size, large->text.bytes);
  of_member.bytes = name;
  found = member(from->arena, from->from, of_member);
  if (found.size != size) oc_fail("the tensor %s has %zu bytes; expected %zu", stem, found.size, size);
  return found;
}

static void write_file(const char *folder, const char *name, span bytes) {
  char path[4096];
  FILE *file;
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) oc_fail("%s is too long a path", folder);
  file = fopen(path, "wb");
  if (file == NULL || fwrite(bytes.bytes, 1, bytes.size, file) != bytes.size || fclose(file) != 0)
    oc_fail("%s cannot be written: %s", path, strerror(errno));
}

/* Write a tensor to the file STEM.bin, and print its line: file, name, type, shape. Strings are in the line. */
static void write_tensor(const source *from, const oc_json *value, oc_text name, const char *stem, const char *folder) {
  const oc_json *shape = oc_member(value, "shape", OC_JSON_ARRAY, "a tensor"), *item;
  int64_t type = oc_member(value, "type", OC_JSON_INTEGER, "a tensor")->integer, dims[OC_MAX_RANK];
  uint64_t elements = 0, bytes = 0;
  size_t rank = 0;
  char file[512];
  if (oc_bits(type) < 0 || shape->count > OC_MAX_RANK)
    oc_fail("the tensor %s has no known type, or too many dimensions", stem);
  for (item = shape->first; item != NULL; item = item->next, rank++) {
    if (item->kind != OC_JSON_INTEGER || item->integer < 0) oc_fail("the tensor %s has no valid shape", stem);
    dims[rank] = item->integer;
  }
  if (!oc_sizes((int)type, dims, rank, &elements, &bytes)) oc_fail("the tensor %s has over 2**63 bytes", stem);
  snprintf(file, sizeof file, "%s%s", stem, type == OC_STRING ? "" : ".bin");
  if (type != OC_STRING) write_file(folder, file, tensor_bytes(from, value, (size_t)bytes, file));
  printf("%s\t", file);
  print_text(name);
  printf("\t%s\t[", oc_type_name(type));
  for (rank = 0; rank < shape->count; rank++) printf("%s%lld", rank > 0 ? "," : "", (long long)dims[rank]);
  printf("]");
  if (type == OC_STRING) {
    const oc_json *strings = oc_member(value, "strings", OC_JSON_ARRAY, file);
    if (strings->count != elements) oc_fail("the tensor %s has %zu strings", stem, strings->count);
    for (item = strings->first; item != NULL; item = item->next) {
      oc_buffer buffer = {NULL, 0, 0};
      if (item->kind != OC_JSON_TEXT) oc_fail("an element of the tensor %s is not a string", stem);
      oc_put_text(&buffer, item->text.bytes, item->text.size);
      printf("\t");
      fwrite(buffer.bytes, 1, buffer.size, stdout);
      free(buffer.bytes);
    }
  }
  printf("\n");
}

static void write_value(const source *from, const oc_json *value, oc_text name, const char *stem, const char *folder,
                        int depth) {
  const oc_json *items = NULL, *item;
  char inner[300];
  int index = 0;
  oc_text kind;
  if (depth > OC_MAX_DEPTH) oc_fail("values are over %d deep in each other", OC_MAX_DEPTH);
  if (value->kind == OC_JSON_NULL) {
    printf("%s\t", stem);
    print_text(name);
    printf("\trandom\n");
    return;
  }
  kind = oc_member(value, "kind", OC_JSON_TEXT, "a value")->text;
  if (oc_equal(kind, "tensor")) {
    write_tensor(from, value, name, stem, folder);
    return;
  }
  if (oc_equal(kind, "sequence")) items = oc_member(value, "items", OC_JSON_ARRAY, "a sequence");
  else if (oc_equal(kind, "map")) items = oc_member(value, "values", OC_JSON_ARRAY, "a map");
  else if (!oc_equal(kind, "optional")) oc_fail("a value of another kind than tensor, sequence, map or optional");
  item = items != NULL ? items->first : oc_get(value, "item");
  printf("%s\t", stem);
  print_text(name);
  printf("\t%s\n", kind.bytes);
  if (oc_equal(kind, "map")) {
    snprintf(inner, sizeof inner, "%s_keys", stem);
    write_tensor(from, oc_member(value, "keys", OC_JSON_OBJECT, "a map"), name, inner, folder);
  }
  if (items == NULL && item != NULL && item->kind == OC_JSON_NULL) return;
  for (; item != NULL; item = items == NULL ? NULL : item->next) {
    snprintf(inner, sizeof inner, "%s_%d", stem, index++);
    write_value(from, item, name, inner, folder, depth + 1);
  }
}

static void write_case(const source *from, const oc_json *described, const char *folder) {
  const oc_json *model = oc_member(described, "model", OC_JSON_OBJECT, "a case"), *expected, *item, *name;
  char stem[40];
  int index = 0;
  write_file(folder, "model.onnx",
             slice(from->data, (size_t)oc_size_member(model, "at", OC_MAX_PAYLOAD, "a model"),
                   (size_t)oc_size_member(model, "size", OC_MAX_PAYLOAD, "a model"), "a model"));
  printf("model.onnx\n");
  for (item = oc_member(described, "inputs", OC_JSON_ARRAY, "a case")->first; item != NULL; item = item->next) {
    snprintf(stem, sizeof stem, "input_%d", index++);
    write_value(from, oc_member(item, "value", OC_JSON_OBJECT, "an input"),
                oc_member(item, "name", OC_JSON_TEXT, "an input")->text, stem, folder, 0);
  }
  expected = oc_get(described, "expected");
  if (expected == NULL) return;
  index = 0;
  name = oc_member(described, "outputs", OC_JSON_ARRAY, "a case")->first;
  for (item = oc_member(described, "expected", OC_JSON_ARRAY, "a case")->first; item != NULL; item = item->next) {
    if (name == NULL || name->kind != OC_JSON_TEXT) oc_fail("an expected output of a case has no name");
    snprintf(stem, sizeof stem, "expected_%d", index++);
    write_value(from, item, name->text, stem, folder, 0);
    name = name->next;
  }
}

/* ---- All cases ---- */

/* List the cases of an operator, or extract one of them; return whether one was extracted. */
static int read_operator(oc_arena *arena, const pack *from, const oc_json *operator_, const char *id,
                         const char *folder) {
  static const char WHERE[] = "an operator of index.json";
  const oc_json *cases = oc_member(operator_, "cases", OC_JSON_OBJECT, WHERE);
  span lines = member(arena, from, oc_member(cases, "name", OC_JSON_TEXT, WHERE)->text);
  while (lines.size > 0) {
    const unsigned char *end = (const unsigned char *)memchr(lines.bytes, '\n', lines.size);
    span line = slice(lines, 0, end == NULL ? lines.size : (size_t)(end - lines.bytes), WHERE);
    size_t used = end == NULL ? lines.size : line.size + 1;
    oc_arena of_line = {NULL};
    const oc_json *described;
    oc_text name;
    lines = slice(lines, used, lines.size - used, WHERE);
    if (line.size == 0) continue;
    described = parsed(&of_line, line, "a line of cases.ndjson");
    name = oc_member(described, "id", OC_JSON_TEXT, "a case")->text;
    if (id == NULL) {
      print_text(name);
      printf("\t%s\n", oc_member(described, "outcome", OC_JSON_TEXT, "a case")->text.bytes);
    } else if (oc_equal(name, id)) {
      const oc_json *data = oc_member(operator_, "data", OC_JSON_OBJECT, WHERE);
      source of_case;
      of_case.arena = arena;
      of_case.from = from;
      of_case.data = member(arena, from, oc_member(data, "name", OC_JSON_TEXT, WHERE)->text);
      write_case(&of_case, described, folder);
      oc_free_all(&of_line);
      return 1;
    }
    oc_free_all(&of_line);
  }
  return 0;
}

int main(int argc, char **argv) {
  const oc_text INDEX = {"index.json", 10};
  oc_arena arena = {NULL};
  const oc_json *index, *operator_;
  const char *id = argc > 2 ? argv[2] : NULL, *folder = argc > 3 ? argv[3] : NULL;
  int found = 0;
  pack opened;
  if (argc != 2 && argc != 4) oc_fail("usage: pack_reader FILE [CASE FOLDER]");
  opened = open_pack(&arena, argv[1]);
  index = parsed(&arena, member(&arena, &opened, INDEX), "index.json");
  if (!oc_equal(oc_member(index, "format", OC_JSON_TEXT, "index.json")->text, "onnx-conformance-cases"))
    oc_fail("%s is not a pack of onnx-conformance", argv[1]);
  oc_size_member(index, "version", VERSION, "index.json");
  for (operator_ = oc_member(index, "operators", OC_JSON_ARRAY, "index.json")->first; operator_ != NULL && !found;
       operator_ = operator_->next) {
    oc_text name = oc_member(operator_, "operator", OC_JSON_TEXT, "an operator of index.json")->text;
    oc_arena of_operator = {NULL};
    if (id != NULL && strncmp(id, name.bytes, name.size) != 0) continue;
    found = read_operator(&of_operator, &opened, operator_, id, folder);
    oc_free_all(&of_operator);
  }
  oc_free_all(&arena);
  if (id != NULL && !found) {
    fprintf(stderr, "onnx_conformance: %s has no case %s\n", argv[1], id);
    return 1;
  }
  if (fflush(stdout) != 0) oc_fail("the output cannot be written: %s", strerror(errno));
  return 0;
}
