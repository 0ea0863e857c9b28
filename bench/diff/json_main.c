/* Prints the canonical form of the JSON text on standard input; exits with 1 if it is rejected.
 * With JANSSON it is jansson that reads and prints, else cJSON. */
#include <stdio.h>
#include <stdlib.h>
#ifdef JANSSON
#include "jansson.h"
#else
#include "cJSON.h"
#endif

static char *canonical(const char *text) {
#ifdef JANSSON
  json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
  return value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
#else
  cJSON *value = cJSON_ParseWithOpts(text, NULL, 1);
  return value ? cJSON_PrintUnformatted(value) : NULL;
#endif
}

int main(void) {
  static char text[1 << 16];
  size_t length = fread(text, 1, sizeof text - 1, stdin);
  text[length] = 0;
  char *printed = canonical(text);
  if (!printed) return 1;
  puts(printed);
  free(printed);
  return 0;
}
