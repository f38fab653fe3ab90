// A finding as an object of JSON.
#ifndef TVMS_DRIVER_REPORT_JSON_H
#define TVMS_DRIVER_REPORT_JSON_H

#include "driver/report_item.h"
#include "support/json.h"

// Adds the object to the array or the line at hand.
void tvms_report_put_json(tvms_json *json, const tvms_report_item *item);

#endif
