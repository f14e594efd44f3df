// A block of raw uplinks: their lines compressed together; the payload of one frame of a segment.
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompressSync } from 'node:zlib';

const compressed = promisify(zstdCompress);

/** Compresses in another thread. */
export function compressLines(lines: readonly string[]): Promise<Buffer> {
  return compressed(Buffer.from(lines.join('\n')), {
    params: { [constants.ZSTD_c_compressionLevel]: 1 },
  });
}

/**
 * The lines of a block. Throws when the bytes are no block, which a checksum has ruled out before.
 */
export function linesOf(block: Buffer): string[] {
  return zstdDecompressSync(block).toString('utf8').split('\n');
}
