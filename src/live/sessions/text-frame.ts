// WebSocket text frames as the server sends them (RFC 6455: final, unmasked), made once and shared by all sockets.
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import type { StoredSample } from '../../model/sample.ts';

/** The complete frame of a text message. */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const headerLength = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(headerLength + length);
  frame[0] = 0x81;
  if (headerLength === 2) {
    frame[1] = length;
  } else if (headerLength === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(text, headerLength, 'utf8');
  return frame;
}

/**
 * The frame of the `sample_insert` message (interface 6) with its cursor (contract: live stream
 * resume).
 */
export function sampleFrame(
  sample: StoredSample,
  now: EpochMs,
  cursor: string = sample.cursor,
): Buffer {
  const { deviceId, topic, timestamp, data } = sample;
  return textFrame(
    JSON.stringify({
      type: 'sample_insert',
      cursor,
      sample: { deviceId, topic, timestamp: formatInstant(timestamp), data },
      timestamp: formatInstant(now),
    }),
  );
}
