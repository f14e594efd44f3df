// The format of the files of the delivery log: one number for blocks, indexes and the manifest.
import { refuseOtherFormat } from '../../model/other-format.ts';

export const deliveryLogFormat = 1;

/**
 * Frame types of blocks; the journal and raw uplinks have smaller ones. Format n adds 2 * (n - 1).
 */
export const blockTypes = { plain: 32, packed: 33 } as const;

/** Throws OtherFormatError for a file of another format. */
export function refuseOtherDeliveries(path: string, format: number): void {
  refuseOtherFormat(path, format, deliveryLogFormat);
}

/** The same for a block, by the type of its frame. */
export function refuseOtherBlock(path: string, frameType: number): void {
  refuseOtherDeliveries(path, ((frameType - blockTypes.plain) >> 1) + 1);
}
