// The format of the files of the delivery log: one number for all of them, and its limits by name.
import { dayMs } from '../../model/instant.ts';
import { refuseOtherFormat } from '../../model/errors.ts';

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

// The limits of the delivery log, by name; tests use smaller ones.

export const deliveryLogLimits = {
  /** Ended deliveries are kept for this time, up to this number per connector. */
  keptMsMax: 7 * dayMs,
  keptPerConnectorMax: 10_000,
  /** Records are written together at this number of bytes, or after this time. */
  blockBytes: 256 * 1024,
  blockMsMax: 50,
  /** Smaller blocks are written as they are: packing them saves less than it costs. */
  packedBytesMin: 4 * 1024,
  /** A segment is closed when it is longer or has more records. */
  segmentBytes: 8 * 1024 * 1024,
  segmentRecords: 20_000,
  /** A closed segment of which less than this part is still needed is copied and removed. */
  neededShareMin: 0.25,
  /** With more bytes that wait for the disk, no delivery starts. */
  unwrittenBytesMax: 8 * 1024 * 1024,
  /** Unpacked blocks that are kept for the next read. */
  blocksCached: 8,
} as const;

export type DeliveryLogLimits = { readonly [K in keyof typeof deliveryLogLimits]: number };
