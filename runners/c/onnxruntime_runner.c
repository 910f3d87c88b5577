/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the cases of onnx-conformance on ONNX Runtime, through its C API.
 *
 *     cc -std=c99 -O2 -I ORT/include onnxruntime_runner.c -ldl -o onnxruntime_runner
 *     onnx-conformance run --core --backend "cmd:./onnxruntime_runner --library ORT/lib/libonnxruntime.so"
 *
 * The library is loaded at run time, so one program tests every version from that of the header onwards. The options
 * --ep-... add a plugin execution provider, by RegisterExecutionProviderLibrary and
 * SessionOptionsAppendExecutionProvider_V2.
 */
#define _POSIX_C_SOURCE 200809L

#include "onnx_conformance.h"

#include <dirent.h>
#include <dlfcn.h>
#include <locale.h>
#include <regex.h>
#include <time.h>

#include "onnxruntime_c_api.h"

#if ORT_API_VERSION < 24
#error "this runner needs onnxruntime_c_api.h of ONNX Runtime 1.24 or newer"
#endif

#define USAGE                                                                                                         \
  "usage: onnxruntime_runner [--library FILE] [--level none|basic|extended|all] [--threads N]\n"                     \
  "                          [--session-option KEY=VALUE]...\n"                                                       \
  "                          [--ep-library FILE --ep-name NAME [--ep-device cpu|gpu|npu] [--ep-option KEY=VALUE]...]\n"
#define FALLBACK "session.disable_cpu_ep_fallback"
#define ASSIGNMENT "session.record_ep_graph_assignment_info"
#define MAX_OPTIONS 64
#define MAX_FOLDER 1024 /* bytes of the path of a temporary folder */
#define NEWER 9999 /* an opset and an IR version that no runtime knows */
#define NO_TYPE "NoTypeError"
#define NOT_ON_PROVIDER "NotOnProviderError"
#define NOT_OF_PROVIDER "NotOfProviderError"

static const OrtApi *api;
static OrtEnv *env;
static OrtSessionOptions *options;
static OrtSessionOptions *without_provider; /* the same, without the execution provider under test */
static OrtAllocator *allocator;
static OrtMemoryInfo *memory;
static const char *provider; /* the name of the execution provider under test, or NULL */

/* ---- Errors ---- */

/* The error of one request; `name` is NULL while there is none. */
typedef struct {
  const char *name;
  char message[20000];
} failure;

/* By OrtErrorCode: the name that ONNX Runtime's Python interface has for the code, and the word in its messages. */
static const char *const CODES[][2] = {
    {"Ok", "SUCCESS"}, {"Fail", "FAIL"}, {"InvalidArgument", "INVALID_ARGUMENT"}, {"NoSuchFile", "NO_SUCHFILE"},
    {"NoModel", "NO_MODEL"}, {"EngineError", "ENGINE_ERROR"}, {"RuntimeException", "RUNTIME_EXCEPTION"},
    {"InvalidProtobuf", "INVALID_PROTOBUF"}, {"ModelLoaded", "MODEL_LOADED"}, {"NotImplemented", "NOT_IMPLEMENTED"},
    {"InvalidGraph", "INVALID_GRAPH"}, {"EPFail", "EP_FAIL"}};

/* Errors with which the runtime reports missing support: the name, a POSIX extended regular expression that is searched
 * for in the message, and the reason. They are the rows of backends/onnxruntime.py; a test compares them. */
static const char *const OPT_OUTS[][3] = {
    {"NotImplemented", "Could not find an implementation|NOT_IMPLEMENTED", "no kernel"},
    {"Fail", "Unsupported model IR version", "newer IR version than it knows"},
    {"Fail", "is under development and support for this is limited", "newer opset than it knows"},
    {"InvalidArgument", "Unsupported model IR version: [0-9]+, max supported", "newer IR version than it knows"},
    {"InvalidArgument", "is under development and support for this is limited", "newer opset than it knows"},
    {"InvalidGraph", "No Op registered for", "no such operator in its schemas"},
    {"Fail", "No Op registered for", "no such operator in its schemas"},
    {"Fail", "is not a registered function/op", "no such operator in its schemas"},
    {"InvalidGraph", "In Node, \\(\"InsertedPrecisionFreeCast_", "float16 in an opset below those that it supports"},
    {"Fail", "does not support [A-Za-z0-9_]+ > 0 \\(CUDA EP only\\)", "no such feature on the CPU"},
    {"RuntimeException", "not implemented for CPU", "no such feature on the CPU"},
    {"Fail", "CPU Q?MoE only supports|Shared CPU QMoE does not|CPU bfloat16 QMoE requires|MatMulNBits on CPU does not",
     "no such feature on the CPU"},
    {"Fail", "CPU GroupQueryAttention requires", "no such feature on the CPU"},
    {"Fail", "Per-Channel is not supported yet", "no kernel"},
    {"InvalidArgument", "Status Message: QLinear Pooling unsupported pooling size", "no kernel"},
    {"Fail", "Unsupported value attribute datatype: [0-9]+$", "no kernel"},
    {"Fail", "Currently do not support dims higher than 2|Unsupported sparse tensor data type",
     "no such sparse tensor"},
    {"RuntimeException", "running If node.*Unsupported type proto value case:0", "no such sparse tensor"},
    {"Fail", "MLDataType for: .* is not currently registered or supported", "no such element type"},
    {"InvalidArgument", "Invalid tensor data type (2[4-9]|[3-9][0-9])\\.", "no such element type"},
    {"Fail", "Batchwise recurrent operations \\(layout == 1\\) are not supported", "no kernel"},
    {"RuntimeException", "(GRU|LSTM|RNN) operator does not support double yet", "no kernel"},
    {"RuntimeException", "data type is not supported with [A-Za-z0-9_]+ opset [0-9]+ when reduction is", "no kernel"},
    {"InvalidArgument", "Status Message: Unsupported pooling size", "no kernel"},
    {"InvalidArgument", "Dilation not supported for AutoPadType::", "no kernel"},
    {"Fail", "The implementation does not support past_key provided and present_key being null", "no kernel"},
    {"Fail", "Failed to construct locale with name", "a locale is missing on this machine"},
    {"NoTypeError", "", "no way to pass this type"}};

/* Further ones of execution providers, which may not use the CPU. */
static const char *const OPT_OUTS_OF_PROVIDERS[][3] = {
    {NOT_ON_PROVIDER, "", "no node ran on the execution provider"},
    {NOT_OF_PROVIDER, "", "onnxruntime refuses the model without the execution provider, too"},
    {"Fail",
     "Provider type for .* node with name .* is not set|fallback to CPU EP has been explicitly disabled"
     "|CPU EP fallback is disabled",
     "the execution provider does not take every node"}};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *reason_of(const char *const (*rows)[3], size_t count, const failure *error) {
  size_t i;
  for (i = 0; i < count; i++) {
    regex_t pattern;
    int found;
    if (strcmp(rows[i][0], error->name) != 0) continue;
    if (rows[i][1][0] == '\0') return rows[i][2];
    /* As in Python, a point is no line end, and $ matches in front of it. */
    if (regcomp(&pattern, rows[i][1], REG_EXTENDED | REG_NOSUB | REG_NEWLINE) != 0)
      oc_fail("a pattern of OPT_OUTS is invalid");
    found = regexec(&pattern, error->message, 0, NULL, 0) == 0;
    regfree(&pattern);
    if (found) return rows[i][2];
  }
  return NULL;
}

static int failed(const OrtStatus *status, failure *error) {
  OrtErrorCode code;
  if (status == NULL) return 0;
  code = api->GetErrorCode(status);
  error->name = (size_t)code < COUNT(CODES) ? CODES[code][0] : "Fail";
  snprintf(error->message, sizeof error->message, "[ONNXRuntimeError] : %d : %s : %s", (int)code,
           (size_t)code < COUNT(CODES) ? CODES[code][1] : "UNKNOWN", api->GetErrorMessage(status));
  api->ReleaseStatus((OrtStatus *)status);
  return 1;
}

static void cannot_pass(failure *error, const char *text) {
  error->name = NO_TYPE;
  snprintf(error->message, sizeof error->message, "%s", text);
}

/* Remove a folder whose name differs from run to run from a message. */
static void without_folder(failure *error, const char *folder) {
  char *found;
  size_t size = strlen(folder);
  if (error->name == NULL) return;
  while ((found = strstr(error->message, folder)) != NULL) {
    memcpy(found, "FOLDER", 6);
    memmove(found + 6, found + size, strlen(found + size) + 1);
  }
}

/* ---- Values ---- */

/* The numbers of float8e8m0, uint2 and int2 in TensorProto.DataType and, because they differ, in
 * ONNXTensorElementDataType, whose names for them some headers lack. */
static const int DIFFERENT[][2] = {{24, 26}, {25, 24}, {26, 25}};

static int to_ort_type(int type) {
  size_t i;
  for (i = 0; i < COUNT(DIFFERENT); i++)
    if (DIFFERENT[i][0] == type) return DIFFERENT[i][1];
  return type > 26 ? -1 : type;
}

static int from_ort_type(int type) {
  size_t i;
  for (i = 0; i < COUNT(DIFFERENT); i++)
    if (DIFFERENT[i][1] == type) return DIFFERENT[i][0];
  return type;
}

/* Create a tensor; return NULL and an error if the runtime does not have its type. */
static OrtValue *to_tensor(const oc_value *value, failure *error) {
  static char nothing[16];
  OrtValue *made = NULL;
  size_t i;
  ONNXTensorElementDataType type = (ONNXTensorElementDataType)to_ort_type(value->type);
  if (value->type != OC_STRING) {
    void *data = value->size > 0 ? (void *)value->data : nothing;
    if (failed(api->CreateTensorWithDataAsOrtValue(memory, data, value->size, value->shape, value->rank, type, &made),
               error))
      error->name = NO_TYPE;
    return made;
  }
  if (failed(api->CreateTensorAsOrtValue(allocator, value->shape, value->rank, type, &made), error)) return NULL;
  for (i = 0; i < value->elements; i++) {
    char *buffer = NULL;
    if (failed(api->GetResizedStringTensorElementBuffer(made, i, value->strings[i].size, &buffer), error)) break;
    memcpy(buffer, value->strings[i].bytes, value->strings[i].size);
  }
  if (error->name == NULL) return made;
  api->ReleaseValue(made);
  return NULL;
}

static OrtValue *to_ort(oc_arena *arena, const oc_value *value, failure *error);

/* Return the values of a map as one tensor of rank 1; the C API has no other way to pass them. */
static OrtValue *to_column(oc_arena *arena, const oc_value *map, failure *error) {
  int type = map->count > 0 ? map->items[0].type : 0;
  size_t i, width = (size_t)(oc_bits(type) / 8);
  int64_t *shape = (int64_t *)oc_alloc(arena, sizeof *shape);
  unsigned char *data = (unsigned char *)oc_alloc(arena, map->count * width);
  oc_text *strings = (oc_text *)oc_alloc_array(arena, map->count, sizeof *strings);
  oc_value column;
  for (i = 0; i < map->count; i++) {
    const oc_value *item = &map->items[i];
    if (item->kind != OC_TENSOR || item->elements != 1 || item->type != type || (width == 0 && type != OC_STRING)) {
      cannot_pass(error, "the C interface only accepts maps whose values are scalars of one type");
      return NULL;
    }
    if (type == OC_STRING) strings[i] = item->strings[0];
    else memcpy(data + i * width, item->data, width);
  }
  *shape = (int64_t)map->count;
  column = oc_tensor(type, shape, 1, data, strings);
  return to_tensor(&column, error);
}

static OrtValue *to_container(oc_arena *arena, const oc_value *value, failure *error) {
  size_t i, count = value->kind == OC_MAP ? 2 : value->count;
  OrtValue **parts = (OrtValue **)oc_alloc_array(arena, count, sizeof *parts), *made = NULL;
  if (value->count == 0) {
    cannot_pass(error, "the C interface cannot create an empty sequence, map or optional");
    return NULL;
  }
  for (i = 0; i < count && error->name == NULL; i++) {
    if (value->kind != OC_MAP) parts[i] = to_ort(arena, &value->items[i], error);
    else parts[i] = i == 0 ? to_tensor(value->keys, error) : to_column(arena, value, error);
  }
  count = error->name == NULL ? count : i - 1;
  if (error->name == NULL &&
      failed(api->CreateValue((const OrtValue *const *)parts, count,
                              value->kind == OC_MAP ? ONNX_TYPE_MAP : ONNX_TYPE_SEQUENCE, &made), error))
    error->name = NO_TYPE;
  for (i = 0; i < count; i++) api->ReleaseValue(parts[i]);
  return made;
}

/* Return a value of the runtime, or NULL and an error. */
static OrtValue *to_ort(oc_arena *arena, const oc_value *value, failure *error) {
  if (value->kind == OC_TENSOR) return to_tensor(value, error);
  if (value->kind == OC_OPTIONAL && value->count == 1) return to_ort(arena, value->items, error);
  return to_container(arena, value, error);
}

static void from_tensor(oc_arena *arena, const OrtValue *value, oc_value *out, failure *error) {
  OrtTensorTypeAndShapeInfo *info = NULL;
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  size_t rank = 0, i;
  void *source = NULL;
  int64_t *shape = NULL;
  if (failed(api->GetTensorTypeAndShape(value, &info), error)) return;
  if (!failed(api->GetTensorElementType(info, &type), error) && !failed(api->GetDimensionsCount(info, &rank), error)) {
    shape = (int64_t *)oc_alloc_array(arena, rank, sizeof *shape);
    (void)failed(api->GetDimensions(info, shape, rank), error);
  }
  api->ReleaseTensorTypeAndShapeInfo(info);
  if (error->name != NULL) return;
  *out = oc_tensor(from_ort_type(type), shape, rank, NULL, NULL);
  if (out->type == OC_STRING) {
    oc_text *strings = (oc_text *)oc_alloc_array(arena, (size_t)out->elements, sizeof *strings);
    for (i = 0; i < out->elements; i++) {
      size_t size = 0;
      char *text;
      if (failed(api->GetStringTensorElementLength(value, i, &size), error)) return;
      text = (char *)oc_alloc(arena, size);
      if (failed(api->GetStringTensorElement(value, size, i, text), error)) return;
      strings[i].bytes = text;
      strings[i].size = size;
    }
    out->strings = strings;
  } else if (!failed(api->GetTensorMutableData((OrtValue *)value, &source), error)) {
    unsigned char *data = (unsigned char *)oc_alloc(arena, out->size);
    if (out->size > 0) memcpy(data, source, out->size);
    for (i = 0; out->type == OC_BOOL && i < out->size; i++) data[i] = data[i] != 0;
    out->data = data;
  }
}

/* Divide a tensor of rank 1 into its elements: the values of a map. */
static void from_column(oc_arena *arena, const oc_value *column, oc_value *items) {
  size_t i, width = (size_t)(oc_bits(column->type) / 8);
  for (i = 0; i < column->elements; i++) {
    const oc_text *text = column->type == OC_STRING ? &column->strings[i] : NULL;
    unsigned char *data = (unsigned char *)oc_alloc(arena, width);
    if (text == NULL) memcpy(data, (const unsigned char *)column->data + i * width, width);
    items[i] = oc_tensor(column->type, NULL, 0, data, text);
  }
}

/* Copy a value of the runtime. */
static void from_ort(oc_arena *arena, const OrtValue *value, oc_value *out, failure *error) {
  enum ONNXType type = ONNX_TYPE_UNKNOWN;
  int has_value = 0;
  size_t count = 0, i;
  oc_value *parts;
  if (value == NULL || failed(api->HasValue(value, &has_value), error) || !has_value) {
    *out = oc_container(OC_OPTIONAL, NULL, 0, NULL);
    return;
  }
  if (failed(api->GetValueType(value, &type), error)) return;
  if (type == ONNX_TYPE_TENSOR) {
    from_tensor(arena, value, out, error);
    return;
  }
  if (type == ONNX_TYPE_SPARSETENSOR) {
    error->name = "SparseAnswer";
    snprintf(error->message, sizeof error->message,
             "returned a sparse tensor, but the graph declares a dense one");
    return;
  }
  if (type != ONNX_TYPE_SEQUENCE && type != ONNX_TYPE_MAP) {
    cannot_pass(error, "the C interface cannot read a value of this kind");
    return;
  }
  if (failed(api->GetValueCount(value, &count), error)) return;
  if (type == ONNX_TYPE_MAP) count = 2; /* Its keys, and its values. */
  parts = (oc_value *)oc_alloc_array(arena, count, sizeof *parts);
  for (i = 0; i < count && error->name == NULL; i++) {
    OrtValue *part = NULL;
    if (failed(api->GetValue(value, (int)i, allocator, &part), error)) return;
    from_ort(arena, part, &parts[i], error);
    api->ReleaseValue(part);
  }
  if (error->name != NULL) return;
  if (type == ONNX_TYPE_SEQUENCE) {
    *out = oc_container(OC_SEQUENCE, parts, count, NULL);
  } else {
    count = (size_t)parts[1].elements;
    *out = oc_container(OC_MAP, (oc_value *)oc_alloc_array(arena, count, sizeof *out), count, &parts[0]);
    from_column(arena, &parts[1], out->items);
  }
}

/* ---- One request ---- */

/* Write the model and its files to a folder. */
static void write_folder(const oc_request *request, char *folder) {
  char path[4096];
  size_t i;
  for (i = 0; i <= request->file_count; i++) {
    const void *data = i == 0 ? request->model : request->files[i - 1].data;
    size_t size = i == 0 ? request->model_size : request->files[i - 1].size;
    const char *name = i == 0 ? "model.onnx" : request->files[i - 1].name.bytes, *slash = strrchr(name, '/');
    FILE *file;
    snprintf(path, sizeof path, "%s/%s", folder, slash == NULL ? name : slash + 1);
    file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
      oc_fail("%s cannot be written: %s", path, strerror(errno));
  }
}

static void remove_folder(const char *folder) {
  char path[4096];
  struct dirent *entry;
  DIR *opened = opendir(folder);
  while (opened != NULL && (entry = readdir(opened)) != NULL) {
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) remove(path);
  }
  if (opened != NULL) closedir(opened);
  rmdir(folder);
}

/* Return the session of a model, which is in a folder if that has a name. */
static OrtSession *session_with(const OrtSessionOptions *wanted, const oc_request *request, const char *folder,
                                failure *error) {
  OrtSession *session = NULL;
  char path[4096];
  if (folder[0] == '\0') {
    (void)failed(api->CreateSessionFromArray(env, request->model, request->model_size, wanted, &session), error);
    return session;
  }
  snprintf(path, sizeof path, "%s/model.onnx", folder);
  (void)failed(api->CreateSession(env, path, wanted, &session), error);
  without_folder(error, folder);
  return session;
}

/* Return the session of a model. If the model has files, they are in a new folder, whose name is written to `folder`.
 * If ONNX Runtime refuses the model with the same error without the execution provider, the provider is not the cause.
 */
static OrtSession *load(const oc_request *request, char *folder, failure *error) {
  static failure other;
  const char *temporary = getenv("TMPDIR");
  OrtSession *session;
  if (request->file_count > 0) {
    snprintf(folder, MAX_FOLDER, "%s/onnx-conformance-files-XXXXXX", temporary == NULL ? "/tmp" : temporary);
    if (mkdtemp(folder) == NULL) oc_fail("the folder %s cannot be created: %s", folder, strerror(errno));
    write_folder(request, folder);
  }
  session = session_with(options, request, folder, error);
  if (error->name == NULL || provider == NULL) return session;
  other.name = NULL;
  session = session_with(without_provider, request, folder, &other);
  if (session != NULL) api->ReleaseSession(session);
  if (other.name != NULL && strcmp(other.message, error->message) == 0) error->name = NOT_OF_PROVIDER;
  return NULL;
}

/* Find out which provider runs which node; without a node on the provider under test, there is nothing to judge. */
static void assign(oc_arena *arena, const OrtSession *session, oc_extra *extra, failure *error) {
  const OrtEpAssignedSubgraph *const *parts = NULL;
  const OrtEpAssignedNode *const *nodes = NULL;
  size_t part_count = 0, node_count = 0, part, node, listed = 0;
  oc_buffer buffer = {NULL, 0, 0};
  char *copy;
  if (provider == NULL || failed(api->Session_GetEpGraphAssignmentInfo(session, &parts, &part_count), error)) return;
  oc_put_word(&buffer, "{\"target\":");
  oc_put_text(&buffer, provider, strlen(provider));
  oc_put_word(&buffer, ",\"nodes\":[");
  for (part = 0; part < part_count && error->name == NULL; part++) {
    const char *name = "";
    if (failed(api->EpAssignedSubgraph_GetEpName(parts[part], &name), error) ||
        failed(api->EpAssignedSubgraph_GetNodes(parts[part], &nodes, &node_count), error)) break;
    for (node = 0; node < node_count; node++) {
      const char *domain = "", *operator_type = "";
      if (failed(api->EpAssignedNode_GetDomain(nodes[node], &domain), error) ||
          failed(api->EpAssignedNode_GetOperatorType(nodes[node], &operator_type), error)) break;
      oc_put_word(&buffer, listed++ > 0 ? ",[" : "[");
      oc_put_text(&buffer, domain, strlen(domain));
      oc_put_word(&buffer, ",");
      oc_put_text(&buffer, operator_type, strlen(operator_type));
      oc_put_word(&buffer, ",");
      oc_put_text(&buffer, name, strlen(name));
      oc_put_word(&buffer, "]");
    }
  }
  oc_put_word(&buffer, "]}");
  if (error->name == NULL && listed == 0) {
    error->name = NOT_ON_PROVIDER;
    snprintf(error->message, sizeof error->message, "no node of the model ran on %s", provider);
  }
  copy = (char *)oc_alloc(arena, buffer.size);
  memcpy(copy, buffer.bytes, buffer.size);
  extra->assigned.bytes = copy;
  extra->assigned.size = buffer.size;
  free(buffer.bytes);
}

/* Run a session; the outputs are not copied if `outputs` is NULL. */
static void run(oc_request *request, OrtSession *session, const oc_input *inputs, size_t count, oc_value *outputs,
                failure *error) {
  oc_arena *arena = &request->arena;
  const char **names = (const char **)oc_alloc_array(arena, count + request->output_count, sizeof *names);
  OrtValue **values = (OrtValue **)oc_alloc_array(arena, count + request->output_count, sizeof *values);
  size_t made = 0, i;
  memset(values, 0, (count + request->output_count) * sizeof *values);
  for (i = 0; i < request->output_count; i++) names[count + i] = request->outputs[i].bytes;
  for (; made < count && error->name == NULL; made++) {
    names[made] = inputs[made].name.bytes;
    values[made] = to_ort(arena, &inputs[made].value, error);
  }
  if (error->name == NULL)
    (void)failed(api->Run(session, NULL, names, (const OrtValue *const *)values, count, names + count,
                          request->output_count, values + count), error);
  for (i = 0; i < request->output_count && error->name == NULL && outputs != NULL; i++)
    from_ort(arena, values[count + i], &outputs[i], error);
  for (i = 0; i < count + request->output_count; i++)
    if (values[i] != NULL) api->ReleaseValue(values[i]);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void answer(const oc_channel *channel, oc_request *request) {
  static failure error, ignored;
  double started = now();
  char folder[MAX_FOLDER] = "";
  const char *reason;
  oc_extra extra = {0, "load", {NULL, 0}};
  oc_value *outputs = (oc_value *)oc_alloc_array(&request->arena, request->output_count, sizeof *outputs);
  OrtSession *session;
  error.name = ignored.name = NULL;
  session = load(request, folder, &error);
  if (error.name == NULL) assign(&request->arena, session, &extra, &error);
  if (error.name == NULL) {
    extra.phase = "run";
    if (request->has_earlier) run(request, session, request->earlier, request->earlier_count, NULL, &ignored);
    run(request, session, request->inputs, request->input_count, outputs, &error);
  }
  if (session != NULL) api->ReleaseSession(session);
  if (folder[0] != '\0') remove_folder(folder);
  extra.seconds = now() - started;
  if (error.name == NULL) {
    oc_answer(channel, request, outputs, request->output_count, &extra);
    return;
  }
  reason = reason_of(OPT_OUTS, COUNT(OPT_OUTS), &error);
  if (reason == NULL && provider != NULL)
    reason = reason_of(OPT_OUTS_OF_PROVIDERS, COUNT(OPT_OUTS_OF_PROVIDERS), &error);
  if (reason == NULL) oc_refused(channel, request, error.name, error.message, &extra);
  else oc_unsupported(channel, request, error.name, error.message, reason, &extra);
}

/* ---- The start ---- */

typedef struct {
  const char *library, *level, *threads, *ep_library, *ep_name, *ep_device;
  size_t ep_count, session_count;
  const char *ep_keys[MAX_OPTIONS], *ep_values[MAX_OPTIONS];
  const char *session_keys[MAX_OPTIONS], *session_values[MAX_OPTIONS];
} settings;

static void give_up(const oc_channel *channel, const char *message) {
  oc_failed(channel, message);
  _Exit(3);
}

static void need(const oc_channel *channel, OrtStatus *status, const char *action) {
  static failure error;
  char text[1000];
  if (!failed(status, &error)) return;
  snprintf(text, sizeof text, "ONNX Runtime cannot %s: %.800s", action, error.message);
  give_up(channel, text);
}

/* Split KEY=VALUE, and append both to lists. */
static void add_pair(char *text, const char **keys, const char **values, size_t *count) {
  char *equals = strchr(text, '=');
  if (equals == NULL || *count >= MAX_OPTIONS) {
    fprintf(stderr, "onnxruntime_runner: %s is not KEY=VALUE, or there are over %d of them\n", text, MAX_OPTIONS);
    exit(OC_EXIT_MALFORMED);
  }
  *equals = '\0';
  keys[*count] = text;
  values[(*count)++] = equals + 1;
}

static settings read_settings(int count, char **words) {
  settings read;
  const struct {
    const char *name;
    const char **value;
  } known[] = {{"--library", &read.library},       {"--level", &read.level},     {"--threads", &read.threads},
               {"--ep-library", &read.ep_library}, {"--ep-name", &read.ep_name}, {"--ep-device", &read.ep_device}};
  int at;
  size_t i;
  memset(&read, 0, sizeof read);
  read.library = "libonnxruntime.so.1";
  read.level = "all";
  read.threads = getenv("ONNX_CONFORMANCE_THREADS") != NULL ? getenv("ONNX_CONFORMANCE_THREADS") : "1";
  for (at = 1; at < count; at += 2) {
    for (i = 0; i < COUNT(known) && strcmp(words[at], known[i].name) != 0; i++) continue;
    if (at + 1 < count && i < COUNT(known)) *known[i].value = words[at + 1];
    else if (at + 1 < count && strcmp(words[at], "--ep-option") == 0)
      add_pair(words[at + 1], read.ep_keys, read.ep_values, &read.ep_count);
    else if (at + 1 < count && strcmp(words[at], "--session-option") == 0)
      add_pair(words[at + 1], read.session_keys, read.session_values, &read.session_count);
    else {
      fputs(USAGE, stderr);
      exit(OC_EXIT_MALFORMED);
    }
  }
  if ((read.ep_library == NULL) != (read.ep_name == NULL)) {
    fputs("onnxruntime_runner: --ep-library and --ep-name belong together; use both\n", stderr);
    exit(OC_EXIT_MALFORMED);
  }
  return read;
}

/* Set the locale of `run --locale`, before the runtime is loaded. */
static void set_locale(const oc_channel *channel) {
  const char *name = getenv("ONNX_CONFORMANCE_LOCALE");
  char text[300];
  if (name == NULL || setlocale(LC_ALL, name) != NULL) return;
  snprintf(text, sizeof text, "this machine has no locale %.200s; `locale -a` lists the installed ones", name);
  give_up(channel, text);
}

static const OrtApiBase *load_library(const oc_channel *channel, const char *library) {
  char text[1000];
  const OrtApiBase *base;
  union {
    void *object;
    const OrtApiBase *(ORT_API_CALL *function)(void);
  } symbol; /* ISO C does not convert a pointer to an object into a pointer to a function. */
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  symbol.object = handle == NULL ? NULL : dlsym(handle, "OrtGetApiBase");
  if (symbol.object == NULL) {
    snprintf(text, sizeof text, "ONNX Runtime cannot be loaded: %.800s; name its library with --library", dlerror());
    give_up(channel, text);
  }
  base = symbol.function();
  api = base->GetApi(ORT_API_VERSION);
  if (api == NULL) {
    snprintf(text, sizeof text, "ONNX Runtime %s is older than the header of this runner, that of 1.%d",
             base->GetVersionString(), ORT_API_VERSION);
    give_up(channel, text);
  }
  return base;
}

/* Load a plugin, and add its first device of the wanted type to the options of sessions. */
static void add_provider(const oc_channel *channel, const settings *chosen) {
  static const char *const DEVICES[] = {"cpu", "gpu", "npu"};
  const OrtEpDevice *const *devices = NULL;
  size_t count = 0, i;
  char text[1000];
  need(channel, api->RegisterExecutionProviderLibrary(env, chosen->ep_name, chosen->ep_library),
       "load the execution provider");
  need(channel, api->GetEpDevices(env, &devices, &count), "list devices");
  for (i = 0; i < count; i++) {
    int type = (int)api->HardwareDevice_Type(api->EpDevice_Device(devices[i]));
    const char *device = type >= 0 && type < (int)COUNT(DEVICES) ? DEVICES[type] : "";
    if (strcmp(api->EpDevice_EpName(devices[i]), chosen->ep_name) != 0) continue;
    if (chosen->ep_device != NULL && strcmp(chosen->ep_device, device) != 0) continue;
    need(channel,
         api->SessionOptionsAppendExecutionProvider_V2(options, env, &devices[i], 1, chosen->ep_keys,
                                                       chosen->ep_values, chosen->ep_count),
         "use the execution provider");
    need(channel, api->AddSessionConfigEntry(options, FALLBACK, "1"), "disable the CPU");
    need(channel, api->AddSessionConfigEntry(options, ASSIGNMENT, "1"), "record where nodes run");
    provider = chosen->ep_name;
    return;
  }
  snprintf(text, sizeof text, "%s of %s found no %s device on this machine", chosen->ep_name, chosen->ep_library,
           chosen->ep_device != NULL ? chosen->ep_device : "supported");
  give_up(channel, text);
}

static void prepare(const oc_channel *channel, const settings *chosen) {
  static const char *const LEVELS[] = {"none", "basic", "extended", "all"};
  static const GraphOptimizationLevel VALUES[] = {ORT_DISABLE_ALL, ORT_ENABLE_BASIC, ORT_ENABLE_EXTENDED,
                                                  ORT_ENABLE_ALL};
  size_t level, i;
  need(channel, api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "onnx-conformance", &env), "start");
  need(channel, api->GetAllocatorWithDefaultOptions(&allocator), "allocate memory");
  need(channel, api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory), "allocate memory");
  need(channel, api->CreateSessionOptions(&options), "start");
  need(channel, api->SetIntraOpNumThreads(options, atoi(chosen->threads)), "set the number of threads");
  need(channel, api->SetInterOpNumThreads(options, 1), "set the number of threads");
  need(channel, api->SetSessionLogSeverityLevel(options, ORT_LOGGING_LEVEL_FATAL), "set the log level");
  for (level = 0; level < COUNT(LEVELS) && strcmp(LEVELS[level], chosen->level) != 0; level++) continue;
  if (level == COUNT(LEVELS)) give_up(channel, "--level has to be none, basic, extended or all");
  need(channel, api->SetSessionGraphOptimizationLevel(options, VALUES[level]), "set the level of the optimizer");
  for (i = 0; i < chosen->session_count; i++)
    need(channel, api->AddSessionConfigEntry(options, chosen->session_keys[i], chosen->session_values[i]),
         "set an option of sessions");
  need(channel, api->CloneSessionOptions(options, &without_provider), "start");
  if (chosen->ep_library != NULL) add_provider(channel, chosen);
}

/* Return the number after `prefix` in the error for a model that is too new, or 0. */
static int64_t newest(int ir_version, int opset, const char *prefix) {
  static failure error;
  const unsigned char model[] = {0x08, (unsigned char)((ir_version & 0x7F) | 0x80), (unsigned char)(ir_version >> 7),
                                 0x42, 0x03, 0x10, (unsigned char)((opset & 0x7F) | 0x80), (unsigned char)(opset >> 7),
                                 0x3A, 0x03, 0x12, 0x01, 'g'}; /* Its IR version, its opset, and a graph of a name. */
  OrtSession *session = NULL;
  const char *found;
  if (!failed(api->CreateSessionFromArray(env, model, sizeof model, options, &session), &error)) {
    api->ReleaseSession(session);
    return 0;
  }
  found = strstr(error.message, prefix);
  return found == NULL ? 0 : strtoll(found + strlen(prefix), NULL, 10);
}

static void say_hello(const oc_channel *channel, const OrtApiBase *base) {
  static const char REST[] = ",\"containers\":[\"sequence\",\"optional\",\"map\"],"
                             "\"accepts\":[\"earlier\",\"files\",\"overrides\"]}";
  static failure error;
  const int64_t one = 1;
  const oc_text empty = {"", 0};
  const unsigned char zeros[16] = {0};
  int64_t opset = newest(8, NEWER, "Current official support for domain ai.onnx is till opset ");
  int64_t ir_version = newest(NEWER, 13, "max supported IR version: ");
  int type, listed = 0;
  oc_buffer buffer = {NULL, 0, 0};
  oc_put_word(&buffer, "{\"name\":\"onnxruntime_runner\",\"runtime\":\"onnxruntime\",\"version\":");
  oc_put_text(&buffer, base->GetVersionString(), strlen(base->GetVersionString()));
  if (opset > 0) {
    oc_put_word(&buffer, ",\"opset\":");
    oc_put_integer(&buffer, opset);
  }
  if (ir_version > 0) {
    oc_put_word(&buffer, ",\"ir_version\":");
    oc_put_integer(&buffer, ir_version);
  }
  if (provider != NULL) {
    oc_put_word(&buffer, ",\"provider\":{\"name\":");
    oc_put_text(&buffer, provider, strlen(provider));
    oc_put_word(&buffer, ",\"registration\":\"dynamic\",\"onnxruntime\":");
    oc_put_text(&buffer, base->GetVersionString(), strlen(base->GetVersionString()));
    oc_put_word(&buffer, "}");
  }
  oc_put_word(&buffer, ",\"types\":[");
  for (type = 1; oc_bits(type) >= 0; type++) {
    oc_value value = oc_tensor(type, &one, 1, zeros, &empty);
    OrtValue *made;
    error.name = NULL;
    made = to_ort_type(type) < 0 ? NULL : to_tensor(&value, &error);
    if (made == NULL) continue;
    api->ReleaseValue(made);
    oc_put_word(&buffer, listed++ > 0 ? "," : "");
    oc_put_text(&buffer, oc_type_name(type), strlen(oc_type_name(type)));
  }
  oc_put_word(&buffer, "]");
  oc_put(&buffer, REST, sizeof REST); /* With its NUL. */
  oc_hello(channel, buffer.bytes);
  free(buffer.bytes);
}

int main(int argc, char **argv) {
  settings chosen = read_settings(argc, argv);
  const OrtApiBase *base;
  oc_channel channel;
  oc_request request;
  oc_open(&channel);
  set_locale(&channel);
  base = load_library(&channel, chosen.library);
  prepare(&channel, &chosen);
  say_hello(&channel, base);
  while (oc_read(&channel, &request)) answer(&channel, &request);
  _Exit(0); /* Destructors of the runtime and of plugins have nothing more to do. */
}
