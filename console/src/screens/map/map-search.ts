// Address of the map: the filter of the device list, the device whose card is open, and what is shown.
import { type DeviceSearch, readDeviceSearch } from '../devices/device-search.ts';

/** `at` is the moment of positions and states. */
export interface MapSearch extends Pick<DeviceSearch, 'q' | 'state' | 'filter' | 'at'> {
  readonly device?: string;
  /** `latitude,longitude,zoom`; all devices when absent. */
  readonly view?: string;
}

const shownForm = /^(-?\d{1,3}(\.\d+)?,){2}\d{1,2}(\.\d+)?$/;

export function readMapSearch(search: Record<string, unknown>): MapSearch {
  // In older addresses `at` was the view, which some browsers read as a time.
  const [at, view = at] = [shownIn(search['at']), shownIn(search['view'])];
  const { at: moment, q, state, filter } = readDeviceSearch(search);
  const { device } = search;
  return {
    ...(q === undefined ? {} : { q }),
    ...(state === undefined ? {} : { state }),
    ...(filter === undefined ? {} : { filter }),
    ...(typeof device === 'string' && device !== '' ? { device } : {}),
    ...(view === undefined ? {} : { view }),
    ...(moment === undefined || at !== undefined ? {} : { at: moment }),
  };
}

function shownIn(value: unknown): string | undefined {
  return typeof value === 'string' && shownForm.test(value) ? value : undefined;
}
