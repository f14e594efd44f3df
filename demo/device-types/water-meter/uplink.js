// Water Meter WM-1. Port 8, little-endian, every six hours:
//   0..3    the last full hour, u32, seconds since 1970 UTC
//   4..7    index at that hour, u32, litres
//   8..31   consumption of the last twelve hours, u16, litres, latest first
//   32      bit 0 = water never stood still for a day, bit 1 = burst, bit 2 = tamper
//   33      battery, %
// Every hour is sent twice, so a lost frame loses nothing: hours that are known already are left out here.

const HOURS = 12;
const HOUR_S = 3600;

function consume(event) {
  const { port, payloadHex } = event.data;
  if (port !== 8 || payloadHex.length !== 68) {
    emit('log', { message: `Not a log of hours: port ${port}, ${payloadHex.length / 2} bytes` });
    return;
  }
  const unsigned = (byte, size) => Hex.hexLittleEndianToBigEndian(payloadHex.slice(byte * 2, (byte + size) * 2), false);
  const lastHour = unsigned(0, 4);
  const known = (event.state || {}).lastHour || 0;

  // Back from the index hour by hour, then emitted in the order of time.
  let litres = unsigned(4, 4);
  const hours = [];
  for (let i = 0; i < HOURS; i++) {
    const end = lastHour - i * HOUR_S;
    const consumption = unsigned(8 + 2 * i, 2);
    if (end > known) hours.unshift({ end, data: { volume: litres / 1000, consumption } });
    litres -= consumption;
  }
  for (const { end, data } of hours) emit('sample', { data, topic: 'default', timestamp: new Date(end * 1000) });

  const [flags, batteryLevel] = Hex.hexToBytes(payloadHex.slice(64));
  emit('sample', {
    data: {
      batteryLevel,
      continuousFlow: (flags & 1) !== 0,
      burst: (flags & 2) !== 0,
      tamper: (flags & 4) !== 0,
    },
    topic: 'lifecycle',
  });
  if (lastHour > known) emit('state', { lastHour });
}
