// MQTT packet sizes, read from the stream, so that a packet over the limit is rejected before it is buffered.

const lengthBytesMax = 4;

export interface PacketSizes {
  /** Bytes of the packet that has arrived in part. */
  readonly held: number;
  /** The largest packet from now on. */
  limit(bytesMax: number): void;
  /** Takes the next bytes of the stream; what is wrong with them, if anything. */
  accept(chunk: Uint8Array): 'tooLarge' | 'malformed' | undefined;
}

/** Reads nothing of a packet but the length that its header tells (MQTT 3.1.1, 2.2.3). */
export function packetSizes(bytesMax: number): PacketSizes {
  let max = bytesMax;
  let held = 0;
  /** Bytes of the body still to come; undefined within the header. */
  let missing: number | undefined;
  let length = 0;
  let headerBytes = 0;

  function header(byte: number): 'tooLarge' | 'malformed' | undefined {
    held++;
    headerBytes++;
    if (headerBytes === 1) return undefined;
    length += (byte & 0x7f) * 128 ** (headerBytes - 2);
    if (byte < 0x80) {
      if (length > max) return 'tooLarge';
      missing = length;
    } else if (headerBytes > lengthBytesMax) return 'malformed';
    return undefined;
  }

  function next(): void {
    held = 0;
    missing = undefined;
    length = 0;
    headerBytes = 0;
  }

  return {
    get held() {
      return held;
    },
    limit(bytes) {
      max = bytes;
    },
    accept(chunk) {
      let at = 0;
      while (at < chunk.length) {
        if (missing === undefined) {
          const wrong = header(chunk[at]!);
          if (wrong !== undefined) return wrong;
          at++;
        } else {
          const taken = Math.min(missing, chunk.length - at);
          missing -= taken;
          held += taken;
          at += taken;
        }
        if (missing === 0) next();
      }
      return undefined;
    },
  };
}
