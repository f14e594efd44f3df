// A block of raw uplinks: their lines compressed together; the payload of one frame of a segment, in the format of its files.
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompressSync } from 'node:zlib';
import { refuseOtherFormat } from '../../../model/errors.ts';

// The format of the files of raw uplinks: one number for blocks, indexes and the mark.

export const rawUplinkFormat = 1;

/**
 * The frame type of a block; journal frames have smaller ones. A block of format n has this number
 * plus n - 1.
 */
export const blockFrameType = 16;

/** Throws OtherFormatError for a file of another format. */
export function refuseOtherUplinks(path: string, format: number): void {
  refuseOtherFormat(path, format, rawUplinkFormat);
}

/** The same for a block, by the type of its frame. */
export function refuseOtherBlock(path: string, frameType: number): void {
  refuseOtherUplinks(path, frameType - blockFrameType + 1);
}

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
