// A water meter with absolute counters, a history of hourly differences and alarms, packed in bits.
const alarms = ['leak', 'burst', 'freeze', 'backflow', 'tamper', 'removal', 'lowBattery', 'sensorFault'];
const units = { 0: { factor: 0.001, name: 'm3' }, 1: { factor: 0.01, name: 'm3' }, 2: { factor: 0.1, name: 'm3' } };

function unsigned(bits, from, count) {
  return Bits.bitsToUnsigned(bits.substr(from, count));
}

function signed(bits, from, count) {
  return Bits.bitsToSigned(bits.substr(from, count));
}

function deviceAlarms(byte) {
  const active = {};
  alarms.forEach((name, index) => {
    active[name] = ((byte >> index) & 1) === 1;
  });
  return active;
}

function firmware(bits) {
  return `${unsigned(bits, 8, 4)}.${unsigned(bits, 12, 4)}.${unsigned(bits, 16, 8)}`;
}

function decodeStatus(bits) {
  return {
    firmware: firmware(bits),
    batteryVoltage: unsigned(bits, 24, 8) / 50 + 1,
    batteryLevel: Math.min(100, Math.max(0, Math.round((unsigned(bits, 24, 8) / 50 - 1) * 50))),
    temperature: signed(bits, 32, 8),
    alarms: deviceAlarms(unsigned(bits, 40, 8)),
  };
}

function decodeReading(bits, state) {
  const unit = units[unsigned(bits, 8, 4)] || units[0];
  const factor = unit.factor;
  const volume = Math.round(unsigned(bits, 16, 32) * factor * 1000) / 1000;
  const reverse = Math.round(unsigned(bits, 48, 24) * factor * 1000) / 1000;
  const data = {
    volume,
    reverseVolume: reverse,
    temperature: signed(bits, 72, 12) / 10,
    flow: unsigned(bits, 84, 12) / 10,
    unit: unit.name,
  };
  if (typeof state.lastVolume === 'number' && state.lastVolume <= volume) {
    data.volumeSinceLast = Math.round((volume - state.lastVolume) * 1000) / 1000;
    data.volumeTotal = Math.round(((state.total || 0) + data.volumeSinceLast) * 1000) / 1000;
    state.total = data.volumeTotal;
  }
  state.lastVolume = volume;
  return data;
}

function decodeHistory(bits, timestamp) {
  const count = unsigned(bits, 8, 8);
  const newest = new Date(timestamp);
  newest.setUTCMinutes(0, 0, 0);
  const readings = [];
  let from = 16;
  for (let i = 0; i < count && from + 16 <= bits.length; i++) {
    readings.push({
      timestamp: new Date(newest.getTime() - i * 3600000),
      volumeSinceLast: unsigned(bits, from, 16) / 1000,
    });
    from += 16;
  }
  return readings;
}

export function consume(event) {
  const bits = Bits.hexToBits(event.data.payloadHex);
  const state = event.state || {};
  const kind = unsigned(bits, 0, 8);
  switch (kind) {
    case 0x01: {
      const { batteryLevel, batteryVoltage, firmware: version, temperature, alarms: active } = decodeStatus(bits);
      emit('sample', { data: { batteryLevel, batteryVoltage, firmware: version, temperature }, topic: 'lifecycle' });
      emit('sample', { data: active, topic: 'alarm' });
      break;
    }
    case 0x02:
      emit('sample', { data: decodeReading(bits, state), topic: 'default' });
      break;
    case 0x03:
      for (const { timestamp, volumeSinceLast } of decodeHistory(bits, event.timestamp)) {
        emit('sample', { data: { volumeSinceLast }, topic: 'history', timestamp });
      }
      break;
    default:
      emit('log', { message: 'unknown kind of message', kind });
  }
  emit('state', state);
}
