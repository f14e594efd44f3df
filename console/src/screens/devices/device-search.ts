// Search of the device list: what its address says.
import type { components } from '../../../generated/interface-types.ts';
import { readMoment } from '../../ui/list-search.ts';

export const deviceStates = ['online', 'silent', 'never'] as const;
export type DeviceState = (typeof deviceStates)[number];
export const deviceSorts = ['-name', 'seen', '-seen'] as const;

/** What the address of the list says. */
export interface DeviceSearch {
  readonly q?: string;
  readonly state?: DeviceState;
  /** A filter expression of the platform (interface 2.9) as base64url. */
  readonly filter?: string;
  /** `seen` is the newest first, `-seen` the oldest; by name without it. */
  readonly sort?: (typeof deviceSorts)[number];
  /** Keys of the columns, separated by commas; the standard ones without it. */
  readonly cols?: string;
  /** Id of the saved view that the rest came from. */
  readonly view?: string;
  /** ISO-8601: values and states are those of then, of devices in any state, by name. */
  readonly at?: string;
}

export function readDeviceSearch(search: Record<string, unknown>): DeviceSearch {
  const [filter, cols, view] = [search['filter'], search['cols'], search['view']].map((one) =>
    typeof one === 'string' && one !== '' ? one : undefined,
  );
  const q = wordOf(search['q']);
  const state = deviceStates.find((one) => one === search['state']);
  const sort = deviceSorts.find((one) => one === search['sort']);
  return {
    ...(q === undefined ? {} : { q }),
    ...(state === undefined ? {} : { state }),
    ...(filter === undefined || decodeFilter(filter) === undefined ? {} : { filter }),
    ...(sort === undefined ? {} : { sort }),
    ...(cols === undefined ? {} : { cols }),
    ...(view === undefined ? {} : { view }),
    ...readMoment(search),
  };
}

/** A search for 2024 is a number to the router. */
function wordOf(value: unknown): string | undefined {
  const word = typeof value === 'number' ? String(value) : value;
  return typeof word === 'string' && word !== '' ? word : undefined;
}

export type FilterLeaf = components['schemas']['Filter'];
export type FilterGroup = components['schemas']['FilterList'];
export type FilterExpression = FilterLeaf | FilterGroup;

/** Undefined for anything but an expression; the platform checks its fields and values. */
export function decodeFilter(filter: string): FilterExpression | undefined {
  try {
    const binary = atob(filter.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (character) => character.codePointAt(0) ?? 0);
    const sent: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isExpression(sent) ? sent : undefined;
  } catch {
    return undefined;
  }
}

function isExpression(sent: unknown): sent is FilterExpression {
  if (typeof sent !== 'object' || sent === null) return false;
  if ('expressions' in sent)
    return Array.isArray(sent.expressions) && sent.expressions.every(isExpression);
  return 'field' in sent && typeof sent.field === 'string' && 'predicate' in sent;
}

// Search of the page that registers a device: the id of a refused uplink.

interface RegisterSearch {
  readonly deviceId?: string;
}

/** Other values are left out. */
export function readRegisterSearch({ deviceId }: Record<string, unknown>): RegisterSearch {
  // An id of digits arrives as a number.
  const isId = typeof deviceId === 'string' || typeof deviceId === 'number';
  return isId ? { deviceId: String(deviceId) } : {};
}
