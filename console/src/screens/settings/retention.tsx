// Retention: for how long samples are kept, and what a shorter time would delete.
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { useSettledValue } from '../../ui/use-settled-value.ts';
import { Card } from '../../ui/card.tsx';
import { Segments } from '../../ui/choice.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Bone, Failure } from '../../ui/states.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { UnsavedBar } from '../../ui/unsaved-bar.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useMayDo } from '../../session/permissions.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import {
  SettingsFrame,
  useWorkspaceEditor,
  WithWorkspace,
  type Workspace,
  workspaceOf,
} from './settings-frame.tsx';
import styles from './settings.module.css';
import { settingsWords } from './settings-words.ts';

const daysMax = 36_500;
const presets = ['30', '90', '365', '730', ''] as const;

export function Retention() {
  return (
    <SettingsFrame tab="retention" curl={(id) => ({ path: `/v3/workspaces/${id}` })}>
      <WithWorkspace>
        {(workspace) => (
          <>
            <RetentionOf key={workspace.id} workspace={workspace} />
            <TimesOf key={`${workspace.id} times`} workspace={workspace} />
          </>
        )}
      </WithWorkspace>
    </SettingsFrame>
  );
}

function RetentionOf({ workspace }: { readonly workspace: Workspace }) {
  const words = useWords(settingsWords);
  const [isAsked, setAsked] = useState(false);
  const before = workspace.settings.retentionDays;
  const editor = useWorkspaceEditor({
    workspace,
    part: 'retention',
    saved: before === null ? '' : String(before),
    updateOf: (text) => ({ settings: { retentionDays: text === '' ? null : Number(text) } }),
  });
  const text = editor.value;
  const isWrong = text !== '' && !isDays(text);
  const isShorter = !isWrong && text !== '' && (before === null || Number(text) < before);
  const save = (isForced?: boolean) => (isShorter ? setAsked(true) : editor.save(isForced));
  return (
    <Card title={words.tabs.retention} isPadded>
      <div className={`stack fit gap-16 ${styles['form']}`}>
        <p className="mute">{words.retentionNote}</p>
        <div className="flow align-end wrap gap-12">
          <Segments
            label={words.keepFor}
            value={presets.find((one) => one === text) ?? 'other'}
            choose={(value) => value !== 'other' && editor.change(value)}
            options={presets.map((value) => ({ value, label: words.keepPresets[value] }))}
          />
          <div className={styles['days']}>
            <TextField
              label={words.keepDays}
              inputMode="numeric"
              autoComplete="off"
              placeholder={words.forEver}
              error={isWrong ? words.daysBad : undefined}
              value={text}
              onChange={({ target }) => editor.change(target.value.trim())}
            />
          </div>
        </div>
        {!isWrong && <Effect workspaceId={workspace.id} days={text} />}
        <UnsavedBar needs="workspace: update" editor={{ ...editor, save }} isBlocked={isWrong} />
      </div>
      {isAsked && (
        <ConfirmDialog
          title={words.shorterTitle(Number(text))}
          note={words.shorterNote}
          confirmLabel={words.keepShorter}
          cancelLabel={words.cancel}
          isBusy={editor.isSaving}
          confirm={() => {
            editor.save();
            setAsked(false);
          }}
          close={() => setAsked(false)}
        />
      )}
    </Card>
  );
}

/** Saved at once: nothing that is stored changes. */
function TimesOf({ workspace }: { readonly workspace: Workspace }) {
  const words = useWords(settingsWords);
  const client = useQueryClient();
  const isAllowed = useMayDo('workspace: update');
  const { id, version, settings } = workspace;
  const saving = useAction({
    mutationFn: (implausibleTimes: Workspace['settings']['implausibleTimes']) => {
      const body = { id, version, settings: { implausibleTimes } };
      return ask(platform.PUT('/v3/workspaces/{id}', { params: { path: { id } }, body }));
    },
    onSuccess(saved) {
      client.setQueryData(workspaceOf(id).queryKey, saved);
      toast(words.timesSaved);
    },
    onError: toastFailure,
  });
  return (
    <Card title={words.times} isPadded>
      <div className={`stack fit gap-16 ${styles['form']}`}>
        <p className="mute">{words.timesNote}</p>
        <SelectField
          label={words.timesStored}
          value={settings.implausibleTimes}
          disabled={saving.isPending || !isAllowed}
          onChange={({ currentTarget: { value } }) =>
            saving.mutate(value === 'RECEIPT' ? 'RECEIPT' : 'KEEP')
          }
        >
          {(['KEEP', 'RECEIPT'] as const).map((value) => (
            <option key={value} value={value}>
              {words.timesKinds[value]}
            </option>
          ))}
        </SelectField>
      </div>
    </Card>
  );
}

function isDays(text: string): boolean {
  const days = Number(text);
  return Number.isInteger(days) && days >= 1 && days <= daysMax;
}

interface EffectProps {
  readonly workspaceId: string;
  /** Empty: without limit. */
  readonly days: string;
}

/** What is stored now, and about how much of it is older. */
function Effect({ workspaceId, days }: EffectProps) {
  const words = useWords(settingsWords);
  const { short, bytes } = useFormats();
  const settled = useSettledValue(days);
  const effect = useQuery({
    queryKey: ['retention effect', workspaceId, settled],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = settled === '' ? {} : { retentionDays: Number(settled) };
      const params = { path: { id: workspaceId }, query };
      return ask(platform.GET('/v3/workspaces/{id}/retention-effect', { signal, params }));
    },
  });
  const path = `/v3/workspaces/${workspaceId}/retention-effect`;
  if (effect.error !== null)
    return <Failure error={effect.error} retry={() => void effect.refetch()} curl={{ path }} />;
  if (effect.data === undefined) return <Bone width="24em" />;
  const { stored, expired } = effect.data;
  const isHarmless = expired.samples === 0;
  return (
    <p role="status" className={styles['effect']} data-is-harmless={isHarmless}>
      {words.storedNow(stored.samples, short(stored.samples), bytes(stored.bytes))}{' '}
      {isHarmless
        ? words.nothingExpires
        : words.expires(expired.samples, short(expired.samples), bytes(expired.bytes))}
    </p>
  );
}
