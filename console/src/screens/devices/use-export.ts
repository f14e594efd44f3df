// Export of the device list: a CSV file of all that match, or of what is selected.
import { useState } from 'react';
import { toast, toastFailure } from '../../parts/toasts.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { columnKeysOf } from './columns/column-order.ts';
import { csvColumns, csvOf, deviceCsv, download } from './device-csv.ts';
import type { Device, ListRequest } from './device-list.ts';
import type { DeviceSearch } from './device-search.ts';
import { devicesWords } from './devices-words.ts';

const fileName = 'devices.csv';

export interface Export {
  /** How far it is, in words; undefined while nothing is exported. */
  readonly progress: string | undefined;
  readonly exportAll: () => void;
  readonly exportSome: (devices: readonly Device[]) => void;
}

export function useExport(request: ListRequest, search: DeviceSearch): Export {
  const words = useWords(devicesWords);
  const formats = useFormats();
  const [progress, setProgress] = useState<string>();
  const columns = csvColumns(columnKeysOf(search), words);
  const save = async (file: Promise<Blob>) => {
    setProgress(words.exporting('0', ''));
    try {
      download(await file, fileName);
      toast(words.exported(fileName));
    } catch (error) {
      toastFailure(error as Error);
    } finally {
      setProgress(undefined);
    }
  };
  const watch = (done: number, total: number) =>
    setProgress(words.exporting(formats.count(done), formats.count(total)));
  return {
    progress,
    exportAll: () => void save(deviceCsv(request, columns, watch)),
    exportSome: (devices) => void save(csvOf(devices, columns)),
  };
}
