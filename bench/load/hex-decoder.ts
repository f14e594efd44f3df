// Hex decoder and payloads for benches of single uplinks: converts bytes as hexadecimal digits to values.
import { type SampleColumns, textsAt } from './workload.ts';

export const hexDecoder = `function consume(event) {
  const bits = Bits.hexToBits(event.data.payloadHex);
  const data = {
    temperature: Bits.bitsToSigned(bits.substr(0, 16)) / 100,
    humidity: Bits.bitsToUnsigned(bits.substr(16, 16)) / 10,
    co2: Bits.bitsToUnsigned(bits.substr(32, 16)),
    batteryLevel: Bits.bitsToUnsigned(bits.substr(48, 8)),
    occupied: Bits.bitsToUnsigned(bits.substr(56, 8)) === 1,
  };
  emit('sample', { data, topic: 'default' });
}`;

/** The payload of the first sample, as JSON. */
export function hexPayload(sample: SampleColumns): string {
  const hex = (n: number, digits: number): string => n.toString(16).padStart(digits, '0');
  const battery = Math.round(Number(textsAt(sample, 0).battery));
  const numbers =
    hex(sample.temperatureHundredths[0]!, 4) +
    hex(sample.humidityTenths[0]!, 4) +
    hex(sample.co2[0]!, 4);
  return JSON.stringify({
    port: 1,
    payloadHex: numbers + hex(battery, 2) + hex(sample.occupied[0]!, 2),
  });
}
