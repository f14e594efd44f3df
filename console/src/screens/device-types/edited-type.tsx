// Edited type: the record, the drafts of its scripts and how they are saved, for all tabs of one type.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, use, useState } from 'react';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { type Draft, isStaleRefusal, useDraft } from '../../ui/use-editor.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import {
  devicesOfType,
  type DeviceType,
  deviceTypeOf,
  type DeviceTypeUpdate,
  saveDeviceType,
} from './device-type-requests.ts';
import { deviceTypeWords } from './device-type-words.ts';
import type { ScriptPart } from './payload.ts';

export interface EditedType {
  readonly workspaceId: string;
  readonly type: DeviceType;
  readonly drafts: Readonly<Record<ScriptPart, ScriptDraft>>;
  readonly isChanged: boolean;
  readonly isSaving: boolean;
  /** Someone else saved the type since the edits began. */
  readonly isStale: boolean;
  /** Saves the changed scripts; over the work of others only when asked to. */
  readonly save: (isForced?: boolean) => void;
  readonly discard: () => void;
  /** Saves other fields of the type; rejects with a Refusal. */
  readonly update: (body: DeviceTypeUpdate) => Promise<DeviceType>;
}

export const EditedTypeContext = createContext<EditedType | undefined>(undefined);

export function useEditedType(): EditedType {
  const edited = use(EditedTypeContext);
  if (edited === undefined) throw new Error('no device type around this part');
  return edited;
}

const parts: readonly ScriptPart[] = ['uplinkScript', 'downlinkScript'];

/** For the one part that is around all tabs of a type. */
export function useTypeEdits(workspaceId: string, type: DeviceType): EditedType {
  const drafts = {
    uplinkScript: useScriptDraft(type, 'uplinkScript'),
    downlinkScript: useScriptDraft(type, 'downlinkScript'),
  };
  const update = useUpdate(type, drafts);
  const mutation = useSave({ workspaceId, type, drafts }, update);
  const changed = parts.filter((part) => drafts[part].isChanged);
  const discard = () => {
    for (const part of parts) drafts[part].discard();
    mutation.reset();
  };
  return {
    workspaceId,
    type,
    drafts,
    isChanged: changed.length > 0,
    isSaving: mutation.isPending,
    isStale:
      isStaleRefusal(mutation.error) ||
      changed.some((part) => drafts[part].version !== type.version),
    save(isForced = false) {
      if (changed.length > 0 && !mutation.isPending) mutation.mutate(isForced);
    },
    discard,
    update,
  };
}

function useUpdate({ id, version }: DeviceType, drafts: EditedType['drafts']) {
  const client = useQueryClient();
  return async (body: DeviceTypeUpdate) => {
    const saved = await saveDeviceType(id, body);
    for (const part of parts) drafts[part].settle(version, saved);
    client.setQueryData(deviceTypeOf(id).queryKey, saved);
    await client.invalidateQueries({ queryKey: ['device-types'] });
    return saved;
  };
}

type SavedParts = Pick<EditedType, 'workspaceId' | 'type' | 'drafts'>;

function useSave({ workspaceId, type, drafts }: SavedParts, update: EditedType['update']) {
  const words = useWords(deviceTypeWords);
  const formats = useFormats();
  const client = useQueryClient();
  const devices = useQuery(devicesOfType(workspaceId, type.id, 1));
  return useAction({
    mutationFn: async (isForced: boolean) => {
      const changed = parts.filter((part) => drafts[part].isChanged);
      const codes = changed.map((part) => [part, { code: drafts[part].code }]);
      const version = Math.min(...changed.map((part) => drafts[part].version));
      const scripts = Object.fromEntries(codes) as Pick<DeviceTypeUpdate, ScriptPart>;
      const saved = await update(isForced ? scripts : { ...scripts, version });
      return { before: type, saved };
    },
    onSuccess({ before, saved }) {
      const undo = async () => {
        const { uplinkScript, downlinkScript } = before;
        await update({ uplinkScript, downlinkScript, version: saved.version });
        for (const part of parts) drafts[part].discard();
        toast(words.undone);
      };
      const count = devices.data?.totalElements;
      toast(
        count === undefined ? words.savedAsIs : words.saved(formats.count(count), count),
        () => void undo().catch(toastFailure),
      );
    },
    onError(error) {
      if (isStaleRefusal(error))
        void client.invalidateQueries({ queryKey: ['device-type', type.id] });
      else toastFailure(error);
    },
  });
}

// Script drafts: the code of one script as it is edited, and when an editor must begin again with it.

interface ScriptDraft extends Pick<Draft<string>, 'isChanged' | 'isKept' | 'version'> {
  readonly code: string;
  /** Grows when the code changes other than by typing: an editor begins again with it. */
  readonly revision: number;
  readonly change: (code: string) => void;
  readonly discard: () => void;
  /** After an own save at the version `from`: saved edits end, others continue there. */
  readonly settle: (from: number, saved: DeviceType) => void;
}

function useScriptDraft(type: DeviceType, part: ScriptPart): ScriptDraft {
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
