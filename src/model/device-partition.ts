// Device partition: the part of all devices that a device belongs to, which decides its node and its shard.
import { crc32 } from 'node:zlib';

/** Never changed: tables and leases contain the numbers of partitions. */
export const partitionCount = 256;

/** The partition of a device, by its service id. */
export function partitionOf(deviceId: string): number {
  return crc32(deviceId) % partitionCount;
}
