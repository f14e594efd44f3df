// Hook on the draft of a device: kept on this computer until it is saved or discarded.
import { useState } from 'react';
import type { Device } from '../data/device-queries.ts';
import { type DeviceDraft, draftOf } from './device-draft.ts';

interface Kept {
  /** Of the device that was edited. */
  readonly version: number;
  readonly draft: DeviceDraft;
}

export interface DraftEdit {
  readonly draft: DeviceDraft;
  readonly isChanged: boolean;
  /** It was there when the page was opened. */
  readonly isRestored: boolean;
  /** The device has another version than the one that was edited. */
  readonly isStale: boolean;
  /** Version that was edited. */
  readonly version: number;
  readonly change: (part: Partial<DeviceDraft>) => void;
  readonly discard: () => void;
}

export function useDraft(device: Device): DraftEdit {
  const key = `draft ${device.id}`;
  const [kept, setKept] = useState(() => readKept(key));
  const [isRestored, setRestored] = useState(kept !== undefined);
  const stored = draftOf(device);
  const draft = kept?.draft ?? stored;
  const discard = () => {
    localStorage.removeItem(key);
    setKept(undefined);
    setRestored(false);
  };
  return {
    draft,
    isChanged: kept !== undefined,
    isRestored,
    isStale: kept !== undefined && kept.version !== device.version,
    version: kept?.version ?? device.version,
    discard,
    change(part) {
      const next = { ...draft, ...part };
      if (JSON.stringify(next) === JSON.stringify(stored)) return discard();
      const edited = { version: kept?.version ?? device.version, draft: next };
      localStorage.setItem(key, JSON.stringify(edited));
      setKept(edited);
    },
  };
}

function readKept(key: string): Kept | undefined {
  const content = localStorage.getItem(key);
  return content === null ? undefined : (JSON.parse(content) as Kept);
}
