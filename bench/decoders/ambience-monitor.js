// Channel, type and value triples of an ambience monitor: the most common way of packing measurements.
const channelTypes = {
  '01:75': { key: 'batteryLevel', bytes: 1, signed: false, factor: 1, topic: 'lifecycle' },
  '03:67': { key: 'temperature', bytes: 2, signed: true, factor: 0.1, topic: 'default' },
  '04:68': { key: 'humidity', bytes: 1, signed: false, factor: 0.5, topic: 'default' },
  '05:6a': { key: 'activity', bytes: 2, signed: false, factor: 1, topic: 'occupancy' },
  '05:00': { key: 'occupied', bytes: 1, signed: false, factor: 1, topic: 'occupancy', isFlag: true },
  '06:65': { key: 'light', bytes: 2, signed: false, factor: 1, topic: 'light' },
  '06:66': { key: 'lightInfrared', bytes: 2, signed: false, factor: 1, topic: 'light' },
  '07:7d': { key: 'co2', bytes: 2, signed: false, factor: 1, topic: 'default' },
  '08:7d': { key: 'tvoc', bytes: 2, signed: false, factor: 1, topic: 'default' },
  '09:73': { key: 'pressure', bytes: 2, signed: false, factor: 0.1, topic: 'default' },
  '0a:7d': { key: 'hcho', bytes: 2, signed: false, factor: 0.01, topic: 'default' },
  '0b:7d': { key: 'pm2_5', bytes: 2, signed: false, factor: 1, topic: 'particles' },
  '0c:7d': { key: 'pm10', bytes: 2, signed: false, factor: 1, topic: 'particles' },
};

function decimals(factor) {
  const text = String(factor);
  const dot = text.indexOf('.');
  return dot === -1 ? 0 : text.length - dot - 1;
}

function round(value, places) {
  const scale = 10 ** places;
  return Math.round(value * scale) / scale;
}

function littleEndian(bytes, at, count, signed) {
  let value = 0;
  for (let i = count - 1; i >= 0; i--) value = value * 256 + bytes[at + i];
  const limit = 2 ** (8 * count);
  return signed && value >= limit / 2 ? value - limit : value;
}

function hexByte(byte) {
  return (byte < 16 ? '0' : '') + byte.toString(16);
}

function decode(bytes) {
  const topics = {};
  const unknown = [];
  let at = 0;
  while (at + 2 <= bytes.length) {
    const id = `${hexByte(bytes[at])}:${hexByte(bytes[at + 1])}`;
    const type = channelTypes[id];
    at += 2;
    if (type === undefined || at + type.bytes > bytes.length) {
      unknown.push({ id, at: at - 2 });
      break;
    }
    const raw = littleEndian(bytes, at, type.bytes, type.signed);
    at += type.bytes;
    if (topics[type.topic] === undefined) topics[type.topic] = {};
    topics[type.topic][type.key] = type.isFlag ? raw === 1 : round(raw * type.factor, decimals(type.factor));
  }
  return { topics, unknown };
}

function comfort(temperature, humidity) {
  if (temperature === undefined || humidity === undefined) return undefined;
  if (temperature < 19 || temperature > 26) return 'POOR';
  return humidity >= 30 && humidity <= 60 ? 'GOOD' : 'FAIR';
}

export function consume(event) {
  const { port, payloadHex } = event.data;
  if (port === 0) return;
  const { topics, unknown } = decode(Hex.hexToBytes(payloadHex));
  const state = event.state || {};
  if (topics.default !== undefined) {
    const rating = comfort(topics.default.temperature, topics.default.humidity);
    if (rating !== undefined) topics.default.comfort = rating;
  }
  if (topics.occupancy !== undefined && topics.occupancy.occupied !== undefined) {
    topics.occupancy.changed = state.occupied !== undefined && state.occupied !== topics.occupancy.occupied;
    state.occupied = topics.occupancy.occupied;
  }
  for (const topic of Object.keys(topics)) emit('sample', { data: topics[topic], topic });
  if (unknown.length > 0) emit('log', { message: 'unknown channels', unknown });
  emit('state', state);
}
