/* Prints the canonical form of the JSON text on standard input; exits with 1 if it is rejected. */
#include <stdio.h>
#include <stdlib.h>
#include "cJSON.h"

int main(void) {
  static char text[1 << 16];
  size_t length = fread(text, 1, sizeof text - 1, stdin);
  text[length] = 0;
  cJSON *value = cJSON_ParseWithOpts(text, NULL, 1);
  if (!value) return 1;
  char *printed = cJSON_PrintUnformatted(value);
  if (!printed) return 2;
  puts(printed);
  free(printed);
  cJSON_Delete(value);
  return 0;
}
