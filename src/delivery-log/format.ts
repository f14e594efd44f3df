// The format of the files of the delivery log: one number for blocks, indexes and the manifest.
import { refuseNewerFormat } from '../model/newer-format.ts';

export const deliveryLogFormat = 1;

/**
 * Frame types of blocks; the journal and raw uplinks have smaller ones. Format n adds 2 * (n - 1).
 */
export const blockTypes = { plain: 32, packed: 33 } as const;

/** Throws NewerFormatError for a file that a newer version of the program wrote. */
export function refuseNewerDeliveries(path: string, format: number | undefined): void {
  refuseNewerFormat(path, format, deliveryLogFormat);
}

/** The same for a block, by the type of its frame. */
export function refuseNewerBlock(path: string, frameType: number): void {
  refuseNewerDeliveries(path, ((frameType - blockTypes.plain) >> 1) + 1);
}
