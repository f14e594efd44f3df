// Compression of answers: br or gzip at a cheap level, few at a time to leave room for other work.
import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';

/** Shorter answers fit in a few packets in any case. */
export const compressedBytesMin = 2 * 1024;
/** Longer ones are compressed on another thread; for shorter ones the way there costs more. */
const ownThreadBytesMax = 16 * 1024;
/** Of the threads that also sync the journal. */
const runningMax = 2;
/** More answers than these are sent as they are. */
const waitingMax = 50;

export type Coding = 'br' | 'gzip';

const brotliOptions = {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: 3,
    // The window decides the memory of each compression.
    [constants.BROTLI_PARAM_LGWIN]: 18,
  },
};
const gzipOptions = { level: 1 };

interface Coder {
  readonly sync: (bytes: Uint8Array) => Uint8Array;
  readonly async: (bytes: Uint8Array) => Promise<Uint8Array>;
}

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

const coders: Readonly<Record<Coding, Coder>> = {
  br: {
    sync: (bytes) => brotliCompressSync(bytes, brotliOptions),
    async: (bytes) => brotliAsync(bytes, brotliOptions),
  },
  gzip: {
    sync: (bytes) => gzipSync(bytes, gzipOptions),
    async: (bytes) => gzipAsync(bytes, gzipOptions),
  },
};

export interface Compressor {
  /** Undefined while too many answers wait: they are sent as they are. */
  compress(coding: Coding, bytes: Uint8Array): Uint8Array | Promise<Uint8Array> | undefined;
}

export function createCompressor(): Compressor {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function inTurn(coding: Coding, bytes: Uint8Array): Promise<Uint8Array> {
    if (running >= runningMax) await new Promise<void>((resolve) => void waiting.push(resolve));
    else running += 1;
    try {
      return await coders[coding].async(bytes);
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  }

  return {
    compress(coding, bytes) {
      if (bytes.length <= ownThreadBytesMax) return coders[coding].sync(bytes);
      return waiting.length < waitingMax ? inTurn(coding, bytes) : undefined;
    },
  };
}

const allCodings: readonly Coding[] = ['br', 'gzip'];

/**
 * The coding that the client prefers of those offered, in their order where it prefers none;
 * undefined for none. `gzip;q=0` is a refusal.
 */
export function acceptedCoding(
  header: string | string[] | undefined,
  offered: readonly Coding[] = allCodings,
): Coding | undefined {
  if (header === undefined) return undefined;
  const weights = weightsOf(String(header));
  let best: Coding | undefined;
  let bestWeight = 0;
  for (const coding of offered) {
    const weight = weights.get(coding) ?? weights.get('*') ?? 0;
    if (weight > bestWeight) [best, bestWeight] = [coding, weight];
  }
  return best;
}

function weightsOf(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const given = parameters.find((parameter) => parameter.startsWith('q='));
    const weight = given === undefined ? 1 : Number(given.slice(2));
    weights.set(name, weight > 0 ? weight : 0);
  }
  return weights;
}
