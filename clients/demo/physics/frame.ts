// Bytes of a radio frame: integers of a width and byte order, written the way a device's firmware packs them.

/**
 * Big-endian two's complement bytes of an integer. A value that does not fit is a mistake in the
 * device model.
 */
export function bigEndian(value: number, size: number): number[] {
  const range = 256 ** size;
  if (!Number.isInteger(value) || value < -range / 2 || value >= range) {
    throw new Error(`${value} does not fit in ${size} bytes`);
  }
  let rest = value < 0 ? value + range : value;
  const bytes: number[] = [];
  for (let i = 0; i < size; i++) {
    bytes.unshift(rest % 256);
    rest = Math.floor(rest / 256);
  }
  return bytes;
}

/** The same, least significant byte first. */
export function littleEndian(value: number, size: number): number[] {
  return bigEndian(value, size).reverse();
}

/** An uplink body as LoRaWAN gateways forward it: port and payload as hex digits. */
export function radioFrame(
  port: number,
  bytes: readonly number[],
): { port: number; payloadHex: string } {
  return { port, payloadHex: bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('') };
}
