/* Prints what expat tells of the XML text on standard input; exits with 1 if it is rejected. */
#include <stdio.h>
#include "expat.h"

static void XMLCALL start(void *data, const XML_Char *name, const XML_Char **attributes) {
  (void)data;
  printf("<%s", name);
  for (; *attributes; attributes += 2) printf(" %s='%s'", attributes[0], attributes[1]);
  puts(">");
}

static void XMLCALL end(void *data, const XML_Char *name) {
  (void)data;
  printf("</%s>\n", name);
}

static void XMLCALL text(void *data, const XML_Char *characters, int length) {
  (void)data;
  printf("%.*s\n", length, characters);
}

int main(void) {
  static char document[1 << 16];
  int length = (int)fread(document, 1, sizeof document, stdin);
  XML_Parser parser = XML_ParserCreate(NULL);
  XML_SetHashSalt(parser, 1);
  XML_SetElementHandler(parser, start, end);
  XML_SetCharacterDataHandler(parser, text);
  return XML_Parse(parser, document, length, 1) == XML_STATUS_OK ? 0 : 1;
}
