// Energy Meter EM-3, three phases. Port 4, big-endian:
//   0       frame type 0x03
//   1..4    energy imported, u32, 10 Wh, runs over
//   5..8    energy exported, u32, 10 Wh, runs over
//   9..11   active power, i24, W, negative towards the grid
//   12      power factor, i8, 0.01
//   13..14  frequency, u16, 0.01 Hz
//   15..20  voltages of L1 to L3, u16, 0.1 V
//   21..26  currents of L1 to L3, u16, 0.01 A

const COUNTER_RANGE = 2 ** 32;
// Three phases with current transformers of 200 A carry at most 138 kW: more than that is not consumption but another meter.
const POWER_MAX_KW = 138;

function rounded(value, digits) {
  return Number(value.toFixed(digits));
}

// What a counter that runs over has counted between two readings.
function advance(before, after) {
  return (after - before + COUNTER_RANGE) % COUNTER_RANGE;
}

function consume(event) {
  const { port, payloadHex } = event.data;
  const bits = Bits.hexToBits(payloadHex);
  const unsigned = (byte, size) => Bits.bitsToUnsigned(bits.slice(byte * 8, (byte + size) * 8));
  const signed = (byte, size) => Bits.bitsToSigned(bits.slice(byte * 8, (byte + size) * 8));
  if (port !== 4 || bits.length !== 27 * 8 || unsigned(0, 1) !== 0x03) {
    emit('log', { message: `Not a reading: port ${port}, ${payloadHex.length / 2} bytes` });
    return;
  }

  const imported = unsigned(1, 4);
  const exported = unsigned(5, 4);
  const data = {
    energyImported: imported / 100,
    energyExported: exported / 100,
    activePower: signed(9, 3) / 1000,
  };

  // Deltas need the reading before; the first frame of a meter, or of its replacement, only sets the mark.
  const at = new Date(event.timestamp).getTime();
  const last = event.state || {};
  const hours = (at - last.at) / 3600000;
  if (hours > 0) {
    const importedKwh = advance(last.imported, imported) / 100;
    const exportedKwh = advance(last.exported, exported) / 100;
    if ((importedKwh + exportedKwh) / Math.max(hours, 0.01) <= POWER_MAX_KW) {
      data.importedDelta = importedKwh;
      data.exportedDelta = exportedKwh;
    } else {
      emit('log', { message: 'Counters jumped; the meter was replaced or reset' });
    }
  }
  emit('sample', { data, topic: 'default' });

  const apparentPower = [0, 1, 2].reduce((sum, i) => sum + (unsigned(15 + 2 * i, 2) / 10) * (unsigned(21 + 2 * i, 2) / 100), 0);
  emit('sample', {
    data: {
      voltageL1: unsigned(15, 2) / 10,
      voltageL2: unsigned(17, 2) / 10,
      voltageL3: unsigned(19, 2) / 10,
      currentL1: unsigned(21, 2) / 100,
      currentL2: unsigned(23, 2) / 100,
      currentL3: unsigned(25, 2) / 100,
      apparentPower: rounded(apparentPower / 1000, 3),
      powerFactor: signed(12, 1) / 100,
      frequency: unsigned(13, 2) / 100,
    },
    topic: 'grid',
  });
  // A frame that comes late must not turn the mark back.
  if (!(hours <= 0)) emit('state', { at, imported, exported });
}
