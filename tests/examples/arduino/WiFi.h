// WiFi of a computer: always connected.
#pragma once
#include "Arduino.h"

enum wl_status_t { WL_CONNECTED = 3 };

struct WiFiClass {
  void setAutoReconnect(bool) {}
  void begin(const char *, const char *) {}
  wl_status_t status() { return WL_CONNECTED; }
};
inline WiFiClass WiFi;
