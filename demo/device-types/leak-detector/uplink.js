// Leak Detector LD-2. Port 5:
//   0  bit 0 = probes wet, bit 1 = cable cut
//   1  battery, %
//   2  temperature, i8, 0.5 degrees Celsius

function consume(event) {
  const { port, payloadHex } = event.data;
  if (port !== 5 || payloadHex.length !== 6) {
    emit('log', { message: `Not a status: port ${port}, ${payloadHex.length / 2} bytes` });
    return;
  }
  const bits = Bits.hexToBits(payloadHex);
  const leak = bits.charAt(7) === '1';
  const cableCut = bits.charAt(6) === '1';
  const batteryLevel = Bits.bitsToUnsigned(bits.slice(8, 16));
  const temperature = Bits.bitsToSigned(bits.slice(16, 24)) / 2;

  const state = event.state || {};
  const now = new Date(event.timestamp).getTime();
  const since = leak ? state.since || now : null;
  emit('sample', {
    data: { leak, leakMinutes: leak ? Math.round((now - since) / 60000) : 0, cableCut, temperature },
    topic: 'default',
  });
  emit('sample', { data: { batteryLevel }, topic: 'lifecycle' });

  // One sample tells the story of a leak when it is over.
  if (!leak && state.since) {
    const durationMinutes = Math.round((now - state.since) / 60000);
    emit('sample', { data: { startedAt: new Date(state.since).toISOString(), durationMinutes }, topic: 'incident' });
  }
  if (leak !== Boolean(state.since)) emit('state', leak ? { since } : {});
}
