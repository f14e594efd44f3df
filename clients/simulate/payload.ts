// Payloads of simulated devices: bytes of a climate sensor as hexadecimal digits, different per device.
import { dayMs } from '../../src/model/instant.ts';

/** The decoder for these payloads. */
export const decoder = `function consume(event) {
  const bits = Bits.hexToBits(event.data.payloadHex);
  const data = {
    temperature: Bits.bitsToSigned(bits.substr(0, 16)) / 100,
    humidity: Bits.bitsToUnsigned(bits.substr(16, 16)) / 10,
    co2: Bits.bitsToUnsigned(bits.substr(32, 16)),
    batteryLevel: Bits.bitsToUnsigned(bits.substr(48, 8)),
    counter: Bits.bitsToUnsigned(bits.substr(56, 32)),
  };
  emit('sample', { data, topic: 'default' });
}`;

/** The payload of a device by its number; `counter` distinguishes its payloads. */
export function payloadOf(device: number, counter: number, nowMs: number): Buffer {
  const phase = Math.sin(((nowMs % dayMs) / dayMs) * 2 * Math.PI + device);
  const bytes = Buffer.alloc(11);
  bytes.writeInt16BE(Math.round((20 + phase * 8) * 100), 0);
  bytes.writeUInt16BE(Math.round((50 + phase * 20) * 10), 2);
  bytes.writeUInt16BE(Math.round(700 + phase * 250 + (counter % 17)), 4);
  bytes.writeUInt8(100 - (device % 60), 6);
  bytes.writeUInt32BE(counter % 2 ** 32, 7);
  return Buffer.from(JSON.stringify({ port: 1, payloadHex: bytes.toString('hex') }));
}
