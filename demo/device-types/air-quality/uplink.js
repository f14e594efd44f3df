// Air Quality AQ-3. Port 10, a row of sections: id, length, bytes (big-endian). Unknown sections are skipped by their length,
// so that a newer firmware does not silence an older decoder.
//   0x01  temperature i16 0.01 degrees Celsius, humidity u8 0.5 %
//   0x02  CO2 u16 ppm, volatile organic compounds u16 ppb
//   0x03  pressure u16 0.1 hPa
//   0x10  particles PM1, PM2.5, PM10, each u16 0.1 ug/m3
//   0x20  battery u8 %, fan hours u24, self-test bits: 0 = CO2 cell failed, 1 = particle sensor failed

const unsigned = (bytes) => bytes.reduce((value, byte) => value * 256 + byte, 0);
const signed16 = (bytes) => (unsigned(bytes) << 16) >> 16;

const SECTIONS = {
  0x01: (b) => ({ default: { temperature: signed16(b.slice(0, 2)) / 100, humidity: b[2] / 2 } }),
  0x02: (b) => ({ default: { co2: unsigned(b.slice(0, 2)), tvoc: unsigned(b.slice(2, 4)) } }),
  0x03: (b) => ({ default: { pressure: unsigned(b) / 10 } }),
  0x10: (b) => ({
    particulate: {
      pm1: unsigned(b.slice(0, 2)) / 10,
      pm25: unsigned(b.slice(2, 4)) / 10,
      pm10: unsigned(b.slice(4, 6)) / 10,
    },
  }),
  0x20: (b) => ({
    system: {
      batteryLevel: b[0],
      fanHours: unsigned(b.slice(1, 4)),
      co2SensorOk: (b[4] & 1) === 0,
      particleSensorOk: (b[4] & 2) === 0,
    },
  }),
};

// Categories I to IV of EN 16798-1 for rooms where people work: ppm of CO2 above outdoor air, taken as 420 ppm.
function ventilation(co2) {
  const above = co2 - 420;
  if (above <= 550) return 'good';
  if (above <= 800) return 'fair';
  return above <= 1350 ? 'poor' : 'bad';
}

function consume(event) {
  const bytes = Hex.hexToBytes(event.data.payloadHex);
  const topics = {};
  for (let at = 0; at + 2 <= bytes.length; at += 2 + bytes[at + 1]) {
    const id = bytes[at];
    const body = bytes.slice(at + 2, at + 2 + bytes[at + 1]);
    const decode = SECTIONS[id];
    if (decode === undefined || body.length < bytes[at + 1]) {
      emit('log', { message: `Section ${id} of ${body.length} bytes skipped` });
      continue;
    }
    for (const [topic, data] of Object.entries(decode(body))) topics[topic] = { ...topics[topic], ...data };
  }

  if (topics.default !== undefined && topics.default.co2 !== undefined) {
    topics.default.ventilation = ventilation(topics.default.co2);
  }
  for (const [topic, data] of Object.entries(topics)) emit('sample', { data, topic });
}
