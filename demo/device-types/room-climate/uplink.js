// Room Climate RC-1. Port 2, big-endian:
//   0     version (high nibble) and status: bit 0 = sensor fault
//   1     battery, 0.01 V above 2.00 V
//   2..3  temperature, signed, 0.01 degrees Celsius
//   4     relative humidity, 0.5 %

// Two alkaline cells under the load of one transmission.
const BATTERY_CURVE = [
  [2.1, 0],
  [2.35, 10],
  [2.6, 40],
  [2.85, 75],
  [3.2, 100],
];

function batteryLevel(volt) {
  if (volt <= BATTERY_CURVE[0][0]) return 0;
  for (let i = 1; i < BATTERY_CURVE.length; i++) {
    const [lowVolt, low] = BATTERY_CURVE[i - 1];
    const [highVolt, high] = BATTERY_CURVE[i];
    if (volt <= highVolt) return Math.round(low + ((volt - lowVolt) / (highVolt - lowVolt)) * (high - low));
  }
  return 100;
}

// Magnus formula over water, WMO constants.
function dewPoint(temperature, humidity) {
  const gamma = Math.log(humidity / 100) + (17.62 * temperature) / (243.12 + temperature);
  return (243.12 * gamma) / (17.62 - gamma);
}

function rounded(value, digits) {
  return Number(value.toFixed(digits));
}

function consume(event) {
  const { port, payloadHex } = event.data;
  if (port !== 2 || payloadHex.length !== 10) {
    emit('log', { message: `Not a measurement: port ${port}, ${payloadHex.length / 2} bytes` });
    return;
  }

  const bits = Bits.hexToBits(payloadHex);
  const fault = bits.charAt(7) === '1';
  const batteryVoltage = rounded(2 + Bits.bitsToUnsigned(bits.slice(8, 16)) / 100, 2);
  const temperature = Bits.bitsToSigned(bits.slice(16, 32)) / 100;
  const humidity = Bits.bitsToUnsigned(bits.slice(32, 40)) / 2;

  if (!fault) {
    emit('sample', {
      data: { temperature, humidity, dewPoint: rounded(dewPoint(temperature, Math.max(1, humidity)), 2) },
      topic: 'default',
    });
  }

  // The battery moves slowly: it is worth a sample when its level changed, when a fault came or went, and once a day.
  const state = event.state || {};
  const now = new Date(event.timestamp).getTime();
  const lifecycle = { batteryVoltage, batteryLevel: batteryLevel(batteryVoltage), sensorFault: fault };
  const changed = lifecycle.batteryLevel !== state.batteryLevel || fault !== state.sensorFault;
  if (changed || !(now - state.reportedAt < 24 * 3600 * 1000)) {
    emit('sample', { data: lifecycle, topic: 'lifecycle' });
    emit('state', { batteryLevel: lifecycle.batteryLevel, sensorFault: fault, reportedAt: now });
  }
}
