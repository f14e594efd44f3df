// Script drafts: the code of one script as it is edited, and when an editor must begin again with it.
import { useState } from 'react';
import { type Draft, useDraft } from '../../parts/use-draft.ts';
import type { DeviceType } from './device-type-requests.ts';
import type { ScriptPart } from './payload.ts';

export interface ScriptDraft extends Pick<Draft<string>, 'isChanged' | 'isKept' | 'version'> {
  readonly code: string;
  /** Grows when the code changes other than by typing: an editor begins again with it. */
  readonly revision: number;
  readonly change: (code: string) => void;
  readonly discard: () => void;
  /** After an own save at the version `from`: saved edits end, others continue there. */
  readonly settle: (from: number, saved: DeviceType) => void;
}

export function useScriptDraft(type: DeviceType, part: ScriptPart): ScriptDraft {
  const { id, version } = type;
  const draft = useDraft(`${id} ${part}`, type[part]?.code ?? '', { version });
  const code = draft.value;
  const [shown, setShown] = useState({ code, revision: 0 });
  if (shown.code !== code) setShown({ code, revision: shown.revision + 1 });
  return {
    code,
    isChanged: draft.isChanged,
    isKept: draft.isKept,
    version: draft.version,
    revision: shown.revision,
    change(typed) {
      setShown({ ...shown, code: typed });
      draft.change(typed);
    },
    discard: draft.discard,
    settle: (from, record) => draft.settle(from, record[part]?.code ?? '', record.version),
  };
}
