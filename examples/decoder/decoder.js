// Decoder of a room sensor. Its payload is 6 bytes, the highest byte first:
//   0-1  temperature in hundredths of a degree, signed
//   2    humidity in half percents; 255: no sensor
//   3-4  battery in millivolts
//   5    bit 0: window open
function consume(event) {
  const { port, payloadHex } = event.data;
  if (port !== 2) return;
  const bits = Bits.hexToBits(payloadHex);
  if (bits.length !== 48) throw new Error(`expected 6 bytes, got ${bits.length / 8}`);
  const unsigned = (byte, length) => Bits.bitsToUnsigned(bits.slice(byte * 8, (byte + length) * 8));

  const data = {
    temperature: Bits.bitsToSigned(bits.slice(0, 16)) / 100,
    windowOpen: (unsigned(5, 1) & 1) === 1,
  };
  if (unsigned(2, 1) !== 255) data.humidity = unsigned(2, 1) / 2;
  emit('sample', { data, topic: 'climate' });
  emit('sample', { data: { batteryVoltage: unsigned(3, 2) / 1000 }, topic: 'lifecycle' });
}
