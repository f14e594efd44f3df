// Type book: device types by what their scripts contain, so that equal scripts are one type.
import { createHash } from 'node:crypto';
import type { MovedType, Place } from './moved.ts';

interface Scripts {
  readonly decoder: string | null;
  readonly encoder: string | null;
}

export interface TypeBook {
  /** The name of the type with these scripts. Only `name` when it is the first of that name. */
  readonly nameOf: (name: string, scripts: Scripts, place: Place) => string;
  readonly types: () => readonly MovedType[];
}

/** Digits of the hash in a name; enough to distinguish the scripts of one model. */
const digits = 6;

/** With `hashed`, each name contains a hash, for sources that do not name their scripts. */
export function createTypeBook({ hashed }: { readonly hashed: boolean }): TypeBook {
  const byName = new Map<string, MovedType>();

  function isTaken(name: string, { decoder, encoder }: Scripts): boolean {
    const known = byName.get(name);
    return known !== undefined && (known.decoder !== decoder || known.encoder !== encoder);
  }

  return {
    nameOf(wanted, scripts, place) {
      const code = `${scripts.decoder ?? ''}\0${scripts.encoder ?? ''}`;
      const hash = createHash('sha256').update(code).digest('hex').slice(0, digits);
      const name = hashed || isTaken(wanted, scripts) ? `${wanted} (${hash})` : wanted;
      if (!byName.has(name)) byName.set(name, { place, name, ...scripts });
      return name;
    },
    types: () => [...byName.values()],
  };
}
