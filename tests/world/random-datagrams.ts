// Malformed CoAP traffic from a seed: whole requests with bits flipped, cut, repeated and spliced, and plain noise.
import { type CoapMessage, encodeMessage } from '../../src/transports/coap/coap-message.ts';

/**
 * A stream of datagrams; `valid` makes a request that would be accepted, of a message id. None that
 * comes out is one.
 */
export function* randomDatagrams(
  seed: number,
  valid: (id: number) => CoapMessage,
): Generator<Buffer> {
  const random = mulberry(seed);
  const below = (max: number): number => Math.floor(random() * max);
  const noise = (bytes: number): Buffer =>
    Buffer.from(Array.from({ length: bytes }, () => below(256)));
  for (;;) {
    const message = valid(below(65_536));
    const whole = encodeMessage(message);
    const kind = below(7);
    if (kind === 0) yield noise(below(120));
    else if (kind === 1) yield whole.subarray(0, below(whole.length - message.payload.length));
    else if (kind === 2)
      yield Buffer.concat([whole.subarray(0, 4 + below(20)), noise(1 + below(60))]);
    else if (kind === 3) yield headerChanged(whole, below(256), below(256));
    else if (kind === 4)
      yield encodeMessage({ ...message, options: shuffledOptions(message, below, noise) });
    else if (kind === 5) yield encodeMessage({ ...message, payload: noise(below(300)) });
    else
      yield Buffer.concat([Buffer.from([0x40 | below(64), below(256)]), noise(2 + below(1_200))]);
  }
}

/** The code is never that of a POST, so that the rest is not a capture request. */
function headerChanged(whole: Buffer, first: number, code: number): Buffer {
  const changed = Buffer.from(whole);
  changed[0] = first;
  changed[1] = code === 2 ? 1 : code;
  return changed;
}

/** Options with a truncated secret, and some unknown ones. */
function shuffledOptions(
  { options }: CoapMessage,
  below: (max: number) => number,
  noise: (bytes: number) => Buffer,
): CoapMessage['options'] {
  const cut = options.map(({ number, value }) => ({
    number,
    value: value.subarray(0, below(value.length)),
  }));
  const known = [12, 17, 23, 27, 28, 60, 258][below(7)]!;
  return [
    ...cut,
    { number: known, value: noise(below(4)) },
    { number: below(3_000), value: noise(below(40)) },
  ].toSorted((a, b) => a.number - b.number);
}

function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
