// The format of the files of raw uplinks: one number for blocks, indexes and the mark.
import { refuseOtherFormat } from '../../../model/other-format.ts';

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
