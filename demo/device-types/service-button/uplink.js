// Service Button SB-1. Port 6, big-endian:
//   0     cause: 0 = sign of life, 1 = pressed once, 2 = pressed twice, 3 = held
//   1..2  presses since installation, u16, runs over
//   3     battery, %

const PRESS_TYPES = ['', 'single', 'double', 'long'];

function consume(event) {
  const { port, payloadHex } = event.data;
  const [cause, high, low, batteryLevel] = Hex.hexToBytes(payloadHex);
  if (port !== 6 || payloadHex.length !== 8 || cause >= PRESS_TYPES.length) {
    emit('log', { message: `Not a button frame: port ${port}, ${payloadHex.length / 2} bytes` });
    return;
  }
  const pressCount = high * 256 + low;
  const pressed = cause > 0;

  // The counter shows what the radio lost: each press moves it by one, seen or not.
  const state = event.state || {};
  const counted = state.pressCount === undefined ? undefined : (pressCount - state.pressCount + 0x10000) % 0x10000;
  if (pressed) {
    const data = { pressed, pressType: PRESS_TYPES[cause], pressCount };
    if (counted !== undefined) data.missedPresses = Math.max(0, counted - 1);
    emit('sample', { data, topic: 'default' });
  } else if (counted > 0) {
    emit('sample', { data: { pressed, pressCount, missedPresses: counted }, topic: 'default' });
  }
  emit('sample', { data: { batteryLevel }, topic: 'lifecycle' });
  emit('state', { pressCount });
}
