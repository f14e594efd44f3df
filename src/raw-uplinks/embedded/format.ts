// The format of the files of raw uplinks: one number for blocks, indexes and the mark.
import { refuseNewerFormat } from '../../model/newer-format.ts';

export const rawUplinkFormat = 1;

/**
 * The frame type of a block; journal frames have smaller ones. A block of format n has this number
 * plus n - 1.
 */
export const blockFrameType = 16;

/**
 * Throws NewerFormatError for a file that a newer version of the program wrote; an index or a mark
 * that says no format is of the first.
 */
export function refuseNewerUplinks(path: string, format: number | undefined): void {
  refuseNewerFormat(path, format, rawUplinkFormat);
}

/** The same for a block, by the type of its frame. */
export function refuseNewerBlock(path: string, frameType: number): void {
  refuseNewerUplinks(path, frameType - blockFrameType + 1);
}
