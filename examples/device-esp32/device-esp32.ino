// Device: sends a reading each minute, keeps what it cannot send, and sends it later.
// Needs the Arduino core for ESP32, which contains these libraries.
#include <HTTPClient.h>
#include <WiFi.h>
#include <sys/time.h>

const char *network = "NETWORK";
const char *password = "PASSWORD";
const char *url = "http://192.168.1.10:8080/v3/capture";
const char *secret = "UPLINK_SECRET";
const char *deviceId = "room-1";

const uint32_t intervalMs = 60000;
const uint32_t backOffMsMax = 300000;
// Eight hours of readings. When the buffer is full, the oldest reading is dropped. It is in memory,
// so a power failure loses it.
const size_t readingsMax = 480;

struct Reading {
  int64_t time;
  float temperature;
};

Reading unsent[readingsMax];
size_t first = 0;
size_t count = 0;
uint32_t measuredAt = 0;
uint32_t failedAt = 0;
uint32_t backOffMs = 0;

// Milliseconds since 1970, or 0 while the time is unknown. The clock goes on without a network.
int64_t now() {
  struct timeval time;
  gettimeofday(&time, nullptr);
  if (time.tv_sec < 1700000000) return 0;
  return (int64_t)time.tv_sec * 1000 + time.tv_usec / 1000;
}

void keep(Reading reading) {
  if (count == readingsMax) {
    first = (first + 1) % readingsMax;
    count--;
  }
  unsent[(first + count) % readingsMax] = reading;
  count++;
}

// Returns the status of the response, or a negative number without one. The time identifies the
// reading, so that a repeated one is stored once.
int sendReading(const Reading &reading) {
  char time[24];
  snprintf(time, sizeof time, "%lld", (long long)reading.time);
  HTTPClient http;
  http.setConnectTimeout(5000);
  http.setTimeout(10000);
  http.begin(String(url) + "?timestamp=" + time);
  http.addHeader("content-type", "application/json");
  http.addHeader("x-uplink-secret", secret);
  http.addHeader("x-device-id", deviceId);
  http.addHeader("idempotency-key", String(deviceId) + "-" + time);
  int status = http.POST("{\"temperature\":" + String(reading.temperature, 1) + "}");
  http.end();
  return status;
}

// Sends the oldest readings first, and stops at the first one that is not acknowledged.
void sendAll() {
  while (count > 0) {
    int status = sendReading(unsent[first]);
    bool rejected = status == 400 || status == 413 || status == 415 || status == 422;
    if (status != 201 && !rejected) {
      failedAt = millis();
      backOffMs = backOffMs == 0 ? 1000 : min(backOffMs * 2, backOffMsMax);
      Serial.printf("status %d: %u unsent\n", status, (unsigned)count);
      return;
    }
    if (rejected) Serial.printf("rejected with %d\n", status);
    first = (first + 1) % readingsMax;
    count--;
    backOffMs = 0;
  }
}

void setup() {
  Serial.begin(115200);
  WiFi.setAutoReconnect(true);
  WiFi.begin(network, password);
  configTime(0, 0, "pool.ntp.org");
}

void loop() {
  // A reading without a time could not be repeated, so measuring begins when the time is known.
  if (now() > 0 && (measuredAt == 0 || millis() - measuredAt >= intervalMs)) {
    measuredAt = millis();
    keep({now(), temperatureRead()});
  }
  if (count > 0 && WiFi.status() == WL_CONNECTED && millis() - failedAt >= backOffMs) sendAll();
  delay(20);
}
