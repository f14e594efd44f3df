// People Counter PC-4: JSON with counters since the last restart.
//   {sensor: {...}, uptime: s, lines: [{id, forward, backward}], wifi: {rssi: dBm}}

// 1 bad, 2 medium, 3 good: the platform shows it as the signal of the device.
function signalQuality(rssi) {
  if (rssi >= -65) return 3;
  return rssi >= -75 ? 2 : 1;
}

function consume(event) {
  const { uptime, lines, wifi } = event.data;
  const totalIn = lines.reduce((sum, line) => sum + line.forward, 0);
  const totalOut = lines.reduce((sum, line) => sum + line.backward, 0);

  const data = { totalIn, totalOut, occupancy: Math.max(0, totalIn - totalOut) };
  const last = event.state || {};
  if (last.uptime !== undefined) {
    // A shorter uptime, or a counter that went back, tells of a restart: all it shows was counted since.
    const restarted = uptime < last.uptime || totalIn < last.totalIn || totalOut < last.totalOut;
    data.peopleIn = restarted ? totalIn : totalIn - last.totalIn;
    data.peopleOut = restarted ? totalOut : totalOut - last.totalOut;
    if (restarted) emit('sample', { data: { restarted: true, uptimeBefore: last.uptime }, topic: 'restart' });
  }
  emit('sample', { data, topic: 'default' });
  emit('sample', {
    data: { uptime, wifiRssi: wifi.rssi, signalQuality: signalQuality(wifi.rssi) },
    topic: 'lifecycle',
  });
  emit('state', { uptime, totalIn, totalOut });
}
