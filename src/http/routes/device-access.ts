// What query routes need to know about devices and tags, and who may read them.
import type { IncomingHttpHeaders } from 'node:http';
import type { Static } from 'typebox';
import type { deviceParams, tagParams } from '../../contract/queries.ts';
import type { Scope, Verb } from '../../model/permission.ts';
import type { Place } from '../../model/place.ts';
import type { Principal } from '../../model/principal.ts';
import type { QueriedDevice } from '../../query/accumulation.ts';

export interface DeviceAccess {
  /** Where a device lives, by service device id; throws Problem `notFound`. */
  readonly placeOfDevice: (deviceId: string) => Place | Promise<Place>;
  /** Where a tag lives; throws Problem `notFound`. */
  readonly placeOfTag: (tagId: string) => Place | Promise<Place>;
  /** All devices that carry the tag, in a stable order. */
  readonly devicesOfTag: (tagId: string) => readonly QueriedDevice[] | Promise<readonly QueriedDevice[]>;
  /** Throws Problem 403, or 404 for a place of another organization. */
  readonly authorize: (principal: Principal, scope: Scope, verb: Verb, place: Place) => void;
  /** Whether an answer to these headers carries the names that older clients read (contract 34). */
  readonly aliased: (headers: IncomingHttpHeaders) => boolean;
}

/** Reading the data of the device in the path. */
export function readsDevice({ placeOfDevice }: Pick<DeviceAccess, 'placeOfDevice'>) {
  return {
    scope: 'asset',
    verb: 'read',
    place: { byParams: ({ deviceId }: Static<typeof deviceParams>) => placeOfDevice(deviceId) },
  } as const;
}

/** Reading the data of the devices of the tag in the path. */
export function readsTag({ placeOfTag }: Pick<DeviceAccess, 'placeOfTag'>) {
  return {
    scope: 'asset',
    verb: 'read',
    place: { byParams: ({ tagId }: Static<typeof tagParams>) => placeOfTag(tagId) },
  } as const;
}

/** The device as queries know it; throws Problem `notFound`. */
export async function queriedDevice(
  deviceId: string,
  { placeOfDevice }: Pick<DeviceAccess, 'placeOfDevice'>,
): Promise<QueriedDevice> {
  const { workspaceId } = await placeOfDevice(deviceId);
  if (workspaceId === null) throw new Error(`Device ${deviceId} lives in no workspace`);
  return { id: deviceId, workspaceId };
}
