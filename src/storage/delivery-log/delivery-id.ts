// Delivery ids: UUIDs that begin with a mark of their connector, by which the log finds them.
import { crc32 } from 'node:zlib';
import { createBoundedMap } from '../../structures/bounded-map.ts';

const marks = createBoundedMap<string, string>(10_000);

/** The first eight characters of the ids of the connector's deliveries. */
export function idMark(connectorId: string): string {
  let mark = marks.get(connectorId);
  if (mark === undefined) {
    mark = crc32(connectorId).toString(16).padStart(8, '0');
    marks.set(connectorId, mark);
  }
  return mark;
}

const partsOfPosition = 4_096;
const positionDigits = 11;

/**
 * The id of the delivery of a sample, the same after a crash. The random correlation id
 * distinguishes the samples of two data folders that were one.
 */
export function deliveryId(sequence: number, connectorId: string, correlationId: string): string {
  const position = Math.floor(sequence);
  const part = Math.round((sequence - position) * partsOfPosition);
  const at = position.toString(16).padStart(positionDigits, '0').slice(-positionDigits);
  const random = crc32(correlationId).toString(16).padStart(8, '0');
  // Version 8, and the variant in the two upper bits of the digit behind.
  return `${idMark(connectorId)}-${at.slice(0, 4)}-8${at.slice(4, 7)}-8${at.slice(7, 10)}-${at.slice(10)}${part.toString(16).padStart(3, '0')}${random}`;
}

/** A random id of the connector, for deliveries without a sample. */
export function randomDeliveryId(connectorId: string, uuid: string): string {
  return `${idMark(connectorId)}${uuid.slice(8, 14)}8${uuid.slice(15)}`;
}
