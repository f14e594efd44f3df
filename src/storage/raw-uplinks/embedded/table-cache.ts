// Table cache: the device tables of recently read segments, bounded in bytes.
import { indexPath } from './segment-file.ts';

export interface TableCache {
  /** Undefined when the table cannot be read. */
  get(path: string): Promise<Buffer | undefined>;
  forget(path: string): void;
}

export function createTableCache(
  bytesMax: number,
  read: (indexPath: string) => Promise<Buffer | undefined>,
): TableCache {
  const tables = new Map<string, Buffer>();
  let bytes = 0;

  const forget = (path: string): void => {
    bytes -= tables.get(path)?.length ?? 0;
    tables.delete(path);
  };

  return {
    async get(path) {
      const table = tables.get(path) ?? (await read(indexPath(path)));
      if (table === undefined) return undefined;
      forget(path);
      tables.set(path, table);
      bytes += table.length;
      for (const oldest of tables.keys()) {
        if (bytes <= bytesMax || oldest === path) break;
        forget(oldest);
      }
      return table;
    },
    forget,
  };
}
