// Runs a sketch, whose path the compiler gets, as a program.
#include "Arduino.h"
#include SKETCH

int main() {
  setup();
  for (;;) loop();
}
