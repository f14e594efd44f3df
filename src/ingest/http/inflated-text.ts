// Inflated body: the characters of a body that may be compressed with gzip, limited in what it becomes.
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { problem } from '../../model/problem.ts';

interface InflateLimits {
  /** Of the body after decompression. */
  readonly bytesMax: number;
  /** Called with the bytes of each chunk before it is kept. May throw. */
  readonly take: (bytes: number) => void;
}

/**
 * Throws Problem 400 for a compressed body that is not valid, 413 beyond the limit, 415 for another
 * coding, and what `take` throws.
 */
export async function inflatedText(
  body: AsyncIterable<Uint8Array>,
  coding: string | undefined,
  { bytesMax, take }: InflateLimits,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(body, coding)) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw problem('payloadTooLarge', { bytesMax });
    take(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function chunksOf(body: AsyncIterable<Uint8Array>, coding = 'identity'): AsyncIterable<Uint8Array> {
  const name = coding.trim().toLowerCase();
  if (name === 'identity' || name === '') return body;
  if (name !== 'gzip' && name !== 'x-gzip')
    throw problem('contentEncodingUnsupported', { coding: name.slice(0, 100) });
  return gunzipped(body);
}

async function* gunzipped(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = Readable.from(body);
  const gunzip = createGunzip();
  let broken: Error | undefined;
  // A body that breaks off or is too long ends the decompression.
  source.once('error', (error) => {
    broken = error;
    gunzip.destroy(error);
  });
  try {
    for await (const chunk of source.pipe(gunzip)) yield chunk as Uint8Array;
  } catch (error) {
    if (broken !== undefined) throw broken;
    throw problem('compressedBodyInvalid', { reason: reasonOf(error) });
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

/** In the words of the server that senders know. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'Z_BUF_ERROR' ? 'unexpected EOF' : message;
}
