// A tracker: positions, movement and the distance since the last position, with a state of its own.
const modes = ['STANDBY', 'MOTION_TRACKING', 'PERMANENT_TRACKING', 'MOTION_START_END', 'ACTIVITY', 'OFF'];
const earthRadius = 6371000;

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  get left() {
    return this.bytes.length - this.at;
  }

  unsigned(count) {
    if (this.left < count) throw new RangeError(`message ends at byte ${this.bytes.length}`);
    let value = 0;
    for (let i = 0; i < count; i++) value = value * 256 + this.bytes[this.at++];
    return value;
  }

  signed(count) {
    const value = this.unsigned(count);
    const limit = 2 ** (8 * count);
    return value >= limit / 2 ? value - limit : value;
  }

  text(count) {
    let text = '';
    for (let i = 0; i < count; i++) text += String.fromCharCode(this.unsigned(1));
    return text.replace(/\0+$/, '');
  }
}

function radians(degrees) {
  return (degrees * Math.PI) / 180;
}

function distance(from, to) {
  const dLat = radians(to.latitude - from.latitude);
  const dLng = radians(to.longitude - from.longitude);
  const a =
    Math.sin(dLat / 2) ** 2 +
    Math.cos(radians(from.latitude)) * Math.cos(radians(to.latitude)) * Math.sin(dLng / 2) ** 2;
  return Math.round(2 * earthRadius * Math.atan2(Math.sqrt(a), Math.sqrt(1 - a)));
}

function readHeader(reader) {
  const status = reader.unsigned(1);
  return {
    mode: modes[(status >> 5) & 7] || 'UNKNOWN',
    userAction: (status & 16) !== 0,
    moving: (status & 4) !== 0,
    onDemand: (status & 1) !== 0,
    batteryLevel: reader.unsigned(1),
    temperature: Math.round((reader.signed(1) / 2) * 10) / 10,
  };
}

function readPosition(reader) {
  const age = reader.unsigned(1) * 8;
  const latitude = Math.round((reader.signed(4) / 1e7) * 1e6) / 1e6;
  const longitude = Math.round((reader.signed(4) / 1e7) * 1e6) / 1e6;
  const accuracy = reader.unsigned(1);
  return { age, latitude, longitude, accuracy };
}

function readBeacons(reader) {
  const beacons = [];
  while (reader.left >= 7) {
    const id = Hex.bytesToHex([1, 2, 3, 4, 5, 6].map(() => reader.unsigned(1))).toUpperCase();
    beacons.push({ id, rssi: reader.signed(1) });
  }
  return beacons.sort((a, b) => b.rssi - a.rssi);
}

export function consume(event) {
  const { port, payloadHex } = event.data;
  const reader = new Reader(Hex.hexToBytes(payloadHex));
  const state = event.state || {};
  const header = readHeader(reader);
  emit('sample', { data: header, topic: 'lifecycle' });
  if (port === 3) {
    const position = readPosition(reader);
    const data = { ...position, mode: header.mode };
    if (state.position) data.distance = distance(state.position, position);
    if (event.device !== undefined && event.device.customFields.zone) data.zone = event.device.customFields.zone;
    const timestamp = new Date(new Date(event.timestamp).getTime() - position.age * 1000);
    emit('sample', { data, topic: 'location', timestamp });
    state.position = { latitude: position.latitude, longitude: position.longitude };
  } else if (port === 8) {
    const beacons = readBeacons(reader);
    emit('sample', { data: { count: beacons.length, nearest: beacons[0] ? beacons[0].id : null, beacons }, topic: 'beacon' });
  }
  emit('state', state);
}
