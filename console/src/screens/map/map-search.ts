// Address of the map: the filter of the device list, the device whose card is open, and what is shown.
import { type DeviceSearch, readDeviceSearch } from '../devices/device-search.ts';

export interface MapSearch extends Pick<DeviceSearch, 'q' | 'state' | 'filter'> {
  readonly device?: string;
  /** `latitude,longitude,zoom`; all devices when absent. */
  readonly at?: string;
}

const shownForm = /^(-?\d{1,3}(\.\d+)?,){2}\d{1,2}(\.\d+)?$/;

export function readMapSearch(search: Record<string, unknown>): MapSearch {
  const { q, state, filter } = readDeviceSearch(search);
  const { device, at } = search;
  return {
    ...(q === undefined ? {} : { q }),
    ...(state === undefined ? {} : { state }),
    ...(filter === undefined ? {} : { filter }),
    ...(typeof device === 'string' && device !== '' ? { device } : {}),
    ...(typeof at === 'string' && shownForm.test(at) ? { at } : {}),
  };
}
