// Asset Tracker GT-2. Port 1, little-endian; the place is left out without a fix:
//   0      bit 7 = moving, bit 6 = fix, bits 5..0 = satellites
//   1      battery, %
//   2..5   latitude, i32, 1e-7 degrees
//   6..9   longitude, i32, 1e-7 degrees
//   10     speed, u8, km/h
//   11     heading, u8, 2 degrees
//   12     horizontal dilution of precision, u8, 0.1

const EARTH_DIAMETER_M = 12742000;
// A receiver at rest wanders by some metres; those are no distance travelled.
const NOISE_M = 25;

function metres(from, to) {
  const rad = Math.PI / 180;
  const h =
    Math.sin(((to.latitude - from.latitude) * rad) / 2) ** 2 +
    Math.cos(from.latitude * rad) * Math.cos(to.latitude * rad) * Math.sin(((to.longitude - from.longitude) * rad) / 2) ** 2;
  return EARTH_DIAMETER_M * Math.asin(Math.sqrt(h));
}

function consume(event) {
  const { port, payloadHex } = event.data;
  const bytes = Hex.hexToBytes(payloadHex);
  const fix = (bytes[0] & 0x40) !== 0;
  if (port !== 1 || bytes.length !== (fix ? 13 : 2)) {
    emit('log', { message: `Not a position: port ${port}, ${bytes.length} bytes` });
    return;
  }

  emit('sample', {
    data: { moving: (bytes[0] & 0x80) !== 0, fix, satellites: bytes[0] & 0x3f },
    topic: 'default',
  });
  emit('sample', { data: { batteryLevel: bytes[1] }, topic: 'lifecycle' });
  if (!fix) return;

  const place = {
    latitude: Hex.hexLittleEndianToBigEndian(payloadHex.slice(4, 12), true) / 1e7,
    longitude: Hex.hexLittleEndianToBigEndian(payloadHex.slice(12, 20), true) / 1e7,
  };
  const state = event.state || {};
  const travelled = state.place === undefined ? 0 : metres(state.place, place);
  const moved = travelled > NOISE_M;
  const odometer = (state.odometer || 0) + (moved ? travelled / 1000 : 0);
  emit('sample', {
    data: {
      ...place,
      speed: bytes[10],
      heading: bytes[11] * 2,
      // Two and a half metres is what the receiver promises at an HDOP of one.
      accuracy: Number((bytes[12] * 0.25).toFixed(2)),
      distance: moved ? Math.round(travelled) : 0,
      odometer: Number(odometer.toFixed(3)),
    },
    topic: 'location',
  });
  // The mark moves only with the vehicle, so that slow driving adds up as well.
  if (moved || state.place === undefined) emit('state', { place, odometer });
}
