// Uplink sum: shows whether two stores have the same raw uplinks.
import { hash } from 'node:crypto';
import type { RawUplink } from '../../model/raw-uplink.ts';
import { lineOf, outcomeBytesMax } from './raw-uplink-line.ts';

export interface UplinkSum {
  add(uplink: RawUplink): void;
  count(): number;
  /** The same for the same uplinks in any order. */
  text(): string;
}

export function createUplinkSum(): UplinkSum {
  const sum = new BigUint64Array(1);
  let count = 0;
  return {
    add(uplink) {
      sum[0]! += hash('md5', lineOf(uplink, outcomeBytesMax), 'buffer').readBigUInt64LE(0);
      count += 1;
    },
    count: () => count,
    text: () => `${count} ${sum[0]}`,
  };
}
