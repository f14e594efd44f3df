// What the example for the ESP32 uses of the Arduino core, on a computer.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

using std::min;

class String {
 public:
  String(const char *text) : text(text) {}
  String(float value, unsigned decimals) {
    char digits[40];
    snprintf(digits, sizeof digits, "%.*f", (int)decimals, value);
    text = digits;
  }
  const char *c_str() const { return text.c_str(); }
  size_t length() const { return text.size(); }
  friend String operator+(const String &a, const String &b) {
    return String((a.text + b.text).c_str());
  }

 private:
  std::string text;
};

inline uint32_t millis() {
  using namespace std::chrono;
  static const auto start = steady_clock::now();
  // Begins above zero, as after the start of a chip.
  return (uint32_t)duration_cast<milliseconds>(steady_clock::now() - start).count() + 1;
}

inline void delay(uint32_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// The clock of the computer is set already.
inline void configTime(long, int, const char *) {}

// Counts, so that a test sees which reading is missing or repeated.
inline float temperatureRead() {
  static float count = 0;
  return ++count;
}

struct SerialPort {
  void begin(unsigned long) {}
  void printf(const char *format, ...) {
    va_list values;
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    fflush(stdout);
  }
};
inline SerialPort Serial;
