// Retention: for how long samples are kept, and what a shorter time would delete.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Card } from '../../../parts/card.tsx';
import { Segments } from '../../../parts/choice.tsx';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { TextField } from '../../../parts/field.tsx';
import { Bone, Failure } from '../../../parts/states.tsx';
import { UnsavedBar } from '../../../parts/unsaved-bar.tsx';
import { useAccount } from '../../../session/session.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import { SettingsFrame, WithWorkspace } from '../settings-frame.tsx';
import styles from '../settings.module.css';
import { settingsWords } from '../settings-words.ts';
import { usageOf } from '../usage/usage-requests.ts';
import { useWorkspaceEditor, type Workspace } from '../workspace-requests.ts';

const daysMax = 36_500;
const presets = ['30', '90', '365', '730', ''] as const;

export function Retention() {
  return (
    <SettingsFrame tab="retention" curl={(id) => ({ path: `/v3/workspaces/${id}` })}>
      <WithWorkspace>
        {(workspace) => <RetentionOf key={workspace.id} workspace={workspace} />}
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
      <div className={styles['form']}>
        <p className="mute">{words.retentionNote}</p>
        <div className={styles['presets']}>
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
        <Stored workspaceId={workspace.id} />
        {editor.error !== null && <Failure error={editor.error} />}
        <UnsavedBar editor={{ ...editor, save }} isBlocked={isWrong} />
      </div>
      {isAsked && (
        <ConfirmDialog
          title={words.shorterTitle(text)}
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

function isDays(text: string): boolean {
  const days = Number(text);
  return Number.isInteger(days) && days >= 1 && days <= daysMax;
}

/** What is stored now, which a shorter time would delete from its oldest end. */
function Stored({ workspaceId }: { readonly workspaceId: string }) {
  const words = useWords(settingsWords);
  const { short, bytes } = useFormats();
  const { organizationId } = useAccount();
  const usage = useQuery(usageOf(organizationId));
  const own = usage.data?.content.find((one) => one.workspaceId === workspaceId);
  if (usage.error !== null)
    return <Failure error={usage.error} retry={() => void usage.refetch()} />;
  if (own === undefined) return <Bone width="24em" />;
  return (
    <p role="status" className={styles['effect']}>
      {words.storedNow(own.samples, short(own.samples), bytes(own.bytes))}
    </p>
  );
}
