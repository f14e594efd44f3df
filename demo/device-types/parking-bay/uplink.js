// Parking Bay PB-1. Port 3, big-endian:
//   0     bit 0 = occupied, bit 7 = sensor blocked by dirt
//   1     battery, %
//   2     temperature in the ground plate, i8, degrees Celsius
//   3..4  minutes since the last change, u16, stops at 65535

function consume(event) {
  const { port, payloadHex } = event.data;
  if (port !== 3 || payloadHex.length !== 10) {
    emit('log', { message: `Not a status: port ${port}, ${payloadHex.length / 2} bytes` });
    return;
  }
  const bits = Bits.hexToBits(payloadHex);
  const blocked = bits.charAt(0) === '1';
  const occupied = bits.charAt(7) === '1';
  const batteryLevel = Bits.bitsToUnsigned(bits.slice(8, 16));
  const temperature = Bits.bitsToSigned(bits.slice(16, 24));
  const minutesInState = Bits.bitsToUnsigned(bits.slice(24, 40));

  const state = event.state || {};
  if (!blocked) {
    emit('sample', { data: { occupied, minutesInState }, topic: 'default' });
    // The change is reckoned from what the device says, so a lost frame does not make a stay longer.
    const changedAt = new Date(event.timestamp).getTime() - minutesInState * 60000;
    if (state.occupied === true && !occupied) {
      const minutes = Math.max(1, Math.round((changedAt - state.changedAt) / 60000));
      emit('sample', { data: { stayMinutes: minutes }, topic: 'stay', timestamp: new Date(changedAt) });
    }
    if (state.occupied !== occupied) emit('state', { occupied, changedAt });
  }
  emit('sample', { data: { batteryLevel, temperature, blocked }, topic: 'lifecycle' });
}
