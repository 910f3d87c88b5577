/* SPDX-License-Identifier: Apache-2.0 */
/* A runner that returns its inputs: every value of the wire format through the header and back. It is also valid C++.
 * An argument selects a fault, which the harness must notice: `drop` an output, or `swap` the bytes of elements. */
#include "onnx_conformance.h"

static void swap(oc_value *value) {
  unsigned char *data = (unsigned char *)value->data;
  size_t width = (size_t)oc_bits(value->type) / 8, at, i;
  for (at = 0; width > 1 && at + width <= value->size; at += width)
    for (i = 0; i < width / 2; i++) {
      unsigned char byte = data[at + i];
      data[at + i] = data[at + width - 1 - i];
      data[at + width - 1 - i] = byte;
    }
}

int main(int argc, char **argv) {
  const char *fault = argc > 1 ? argv[1] : "";
  oc_channel channel;
  oc_request request;
  oc_open(&channel);
  printf("this line must not become a part of an answer\n");
  oc_hello(&channel, "{\"name\":\"echo\",\"runtime\":\"echo\",\"version\":\"1\",\"accepts\":[\"earlier\",\"files\"]}");
  while (oc_read(&channel, &request)) {
    size_t count = request.input_count, i;
    oc_extra extra = {0.25, NULL, {NULL, 0}};
    oc_value *outputs = (oc_value *)oc_alloc_array(&request.arena, count, sizeof *outputs);
    for (i = 0; i < count; i++) outputs[i] = request.inputs[i].value;
    if (strcmp(fault, "drop") == 0 && count > 0) count--;
    for (i = 0; i < count && strcmp(fault, "swap") == 0; i++) swap(&outputs[i]);
    oc_answer(&channel, &request, outputs, count, &extra);
  }
  return 0;
}
