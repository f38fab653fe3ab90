// Finding the page of a pass; the build makes the table of the heads of files.
#include "passes/pages.h"

#include <string.h>

const tvms_pass_page *tvms_pass_page_of(const tvms_pass *pass) {
  size_t i = 0;
  while (strcmp(tvms_pass_pages[i].name, pass->name) != 0)
    i++;
  return &tvms_pass_pages[i];
}
