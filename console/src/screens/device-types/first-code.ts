// First code of a new device type: a decoder that runs as it is, to be changed.

export type FirstCode = 'bytes' | 'json' | 'passes';

export const firstCode: Readonly<Record<FirstCode, string | null>> = {
  bytes: `// Runs once for each uplink. Bytes 0 and 1: temperature, signed, 0.1 degrees Celsius.
function consume(event) {
  const bits = Bits.hexToBits(event.data.payloadHex);
  const temperature = Bits.bitsToSigned(bits.slice(0, 16)) / 10;
  emit('sample', { data: { temperature }, topic: 'default' });
}
`,
  json: `// Runs once for each uplink.
function consume(event) {
  const { temperature, humidity } = event.data;
  emit('sample', { data: { temperature, humidity }, topic: 'default' });
}
`,
  passes: null,
};
