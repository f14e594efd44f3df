// Settings of a device: what it is called, where it belongs, and its end. Edits are kept until saved.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { ask, platform } from '../../../api/platform.ts';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Failure } from '../../../parts/states.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { useWords } from '../../../words/language.tsx';
import { deviceQuery } from '../data/device-queries.ts';
import { useDeviceFrame } from '../device-frame.ts';
import { DeleteDevice } from './delete-device.tsx';
import { type DeviceDraft, faultsOf, updateOf } from './device-draft.ts';
import { FieldInputs, GeneralInputs, TagInputs } from './setting-inputs.tsx';
import styles from './settings.module.css';
import { settingsWords } from './settings-words.ts';
import { type DraftEdit, useDraft } from './use-draft.ts';
import { useChoices } from './use-choices.ts';

export function Settings() {
  const words = useWords(settingsWords);
  const { device } = useDeviceFrame();
  const edit = useDraft(device);
  const choices = useChoices(device);
  const faults = faultsOf(edit.draft, choices.fields);
  const saving = useSaving(edit, choices.fields);
  const parts = { draft: edit.draft, change: edit.change, faults, choices };
  return (
    <>
      <form
        className={styles['form']}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (faults.length === 0 && edit.isChanged) saving.mutate(edit.draft);
        }}
      >
        <Card title={words.general} isPadded>
          <GeneralInputs {...parts} />
        </Card>
        <Card title={words.tags} isPadded>
          <TagInputs {...parts} />
        </Card>
        <Card title={words.fields} isPadded>
          <FieldInputs {...parts} />
        </Card>
        {saving.isError && <Failure error={saving.error} />}
        <SaveBar edit={edit} isBusy={saving.isPending || faults.length > 0} />
      </form>
      <DeleteDevice discard={edit.discard} />
      <LeaveWarning isChanged={edit.isChanged} />
    </>
  );
}

function useSaving(edit: DraftEdit, fields: Parameters<typeof updateOf>[2]) {
  const words = useWords(settingsWords);
  const { device } = useDeviceFrame();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (draft: DeviceDraft) =>
      ask(
        platform.PUT('/v3/devices/{id}', {
          params: { path: { id: device.id } },
          body: { ...updateOf(device, draft, fields), version: edit.version },
        }),
      ),
    onSuccess: async (saved) => {
      queries.setQueryData(deviceQuery(device.id).queryKey, saved);
      edit.discard();
      toast(words.saved);
      await queries.invalidateQueries({ queryKey: ['devices'] });
    },
  });
}

function SaveBar({ edit, isBusy }: { readonly edit: DraftEdit; readonly isBusy: boolean }) {
  const words = useWords(settingsWords);
  const { isChanged, isStale, isRestored, discard } = edit;
  const note = isRestored ? words.restored : words.unsaved;
  return (
    <div className={styles['bar']}>
      {isChanged && (
        <span className={styles['unsaved']} role="status">
          {isStale ? words.conflict : note}
        </span>
      )}
      <span className="grow" />
      {isChanged && <Button onClick={discard}>{words.discard}</Button>}
      <Button look="primary" type="submit" disabled={!isChanged || isBusy}>
        {words.save}
      </Button>
    </div>
  );
}

function LeaveWarning({ isChanged }: { readonly isChanged: boolean }) {
  const words = useWords(settingsWords);
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isChanged && current.pathname !== next.pathname,
    enableBeforeUnload: isChanged,
    withResolver: true,
  });
  if (blocker.status !== 'blocked') return null;
  return (
    <Dialog
      title={words.leaveTitle}
      close={blocker.reset}
      footer={
        <>
          <Button onClick={blocker.proceed}>{words.leave}</Button>
          <Button look="primary" onClick={blocker.reset}>
            {words.stay}
          </Button>
        </>
      }
    >
      <p>{words.leaveNote}</p>
    </Dialog>
  );
}
