// Drafts: code that was changed and not saved, kept in the browser until it is saved or discarded.
import { useEffect, useState } from 'react';
import type { DeviceType } from './device-type-requests.ts';
import type { ScriptPart } from './payload.ts';

interface Kept {
  readonly code: string;
  /** Version of the record that the edits began with. */
  readonly version: number;
}

export interface Draft {
  readonly code: string;
  readonly isChanged: boolean;
  /** Version of the record that the edits began with. */
  readonly version: number;
  /** False when the browser has no room for it. */
  readonly isKept: boolean;
  /** Grows when the code changes other than by typing: an editor begins again with it. */
  readonly revision: number;
  readonly change: (code: string) => void;
  readonly discard: () => void;
  /** After an own save at the version `from`: saved edits end, others continue there. */
  readonly settle: (from: number, saved: DeviceType) => void;
}

export function useDraft(type: DeviceType, part: ScriptPart): Draft {
  const key = `draft ${type.id} ${part}`;
  const saved = type[part]?.code ?? '';
  const [kept, setKept] = useState(() => readKept(key));
  const [isKept, setStored] = useState(true);
  useEffect(() => {
    store(key, kept);
  }, [key, kept]);
  const isChanged = kept !== undefined && kept.code !== saved;
  const code = isChanged ? kept.code : saved;
  const [shown, setShown] = useState({ code, revision: 0 });
  if (shown.code !== code) setShown({ code, revision: shown.revision + 1 });
  const version = isChanged ? kept.version : type.version;
  return {
    code,
    isChanged,
    version,
    isKept,
    revision: shown.revision,
    change(typed) {
      const next = typed === saved ? undefined : { code: typed, version };
      setKept(next);
      setShown({ ...shown, code: typed });
      setStored(store(key, next));
    },
    discard: () => setKept(undefined),
    settle(from, record) {
      setKept((before) => {
        if (before === undefined || before.code === record[part]?.code) return undefined;
        return before.version === from ? { ...before, version: record.version } : before;
      });
    },
  };
}

function readKept(key: string): Kept | undefined {
  const { code, version } = JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<Kept>;
  if (typeof code !== 'string' || typeof version !== 'number') return undefined;
  return { code, version };
}

/** Returns false when the browser refuses it. */
function store(key: string, kept: Kept | undefined): boolean {
  try {
    if (kept === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(kept));
    return true;
  } catch {
    return false;
  }
}
