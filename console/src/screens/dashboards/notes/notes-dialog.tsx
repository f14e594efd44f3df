// Notes dialog: what a chart marks as a list, and a form for another note.
import { Link } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { ask, platform } from '../../../api/platform.ts';
import { useDevicesById } from '../../../api/workspace-records.ts';
import { ActionFailure } from '../../../ui/action-failure.tsx';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../../ui/field.tsx';
import { Severity } from '../../../ui/severity.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { useAction } from '../../../ui/use-action.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import { instantOfLocal, localOf } from '../../../words/zone-times.ts';
import { noteWords } from './note-words.ts';
import styles from './notes.module.css';
import { type ChartNotes, type Note, refreshNotes } from './use-notes.ts';

interface NotesDialogProps {
  readonly workspaceId: string;
  /** Of the chart. */
  readonly title: string;
  readonly shown: ChartNotes;
  /** Where the new note begins, in epoch seconds. */
  readonly at: number;
  readonly zone: string;
  readonly close: () => void;
}

export function NotesDialog({ workspaceId, title, shown, at, zone, close }: NotesDialogProps) {
  const words = useWords(noteWords);
  const formats = useFormats();
  const { notes, alarms } = shown;
  const instant = (iso: string) => formats.instant(iso, zone);
  const rows = [
    ...notes.map((note) => ({ at: note.at, note })),
    ...alarms.map((alarm) => ({ at: alarm.firstTriggered, alarm })),
  ].toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
  return (
    <Dialog
      title={words.notes(title)}
      isWide
      close={close}
      footer={<Button onClick={close}>{words.close}</Button>}
    >
      <div className="stack gap-16">
        <NewNote workspaceId={workspaceId} deviceIds={shown.deviceIds} at={at} zone={zone} />
        {rows.length === 0 ? (
          <p className="mute">{words.empty}</p>
        ) : (
          <ul className={styles['list']} aria-label={words.list}>
            {rows.map((row) =>
              'note' in row ? (
                <NoteRow key={row.note.id} note={row.note} instant={instant} />
              ) : (
                <li key={row.alarm.id}>
                  <span className="mute">{instant(row.at)}</span>
                  <span className={styles['text']}>
                    <Severity of={row.alarm.severity} />{' '}
                    <Link
                      to="/w/$workspaceId/alarms/$alarmId"
                      params={{ workspaceId, alarmId: row.alarm.id }}
                    >
                      {row.alarm.name}
                    </Link>
                  </span>
                </li>
              ),
            )}
          </ul>
        )}
      </div>
    </Dialog>
  );
}

interface NoteRowProps {
  readonly note: Note;
  readonly instant: (iso: string) => string;
}

function NoteRow({ note, instant }: NoteRowProps) {
  const words = useWords(noteWords);
  const { id, workspaceId, at, until, text, by } = note;
  const removal = useAction({
    mutationFn: () => ask(platform.DELETE('/v3/annotations/{id}', { params: { path: { id } } })),
    onSuccess: async () => {
      await refreshNotes(workspaceId);
      toast(words.deleted);
    },
  });
  return (
    <li>
      <span className="mute">
        {instant(at)}
        {until !== null && ` – ${instant(until)}`}
      </span>
      <span className={styles['text']}>
        {text} <span className="faint">{by.name}</span>
      </span>
      <Button
        look="ghost"
        isIcon
        needs="dashboard: delete"
        aria-label={words.remove(text.slice(0, 100))}
        title={words.remove(text.slice(0, 100))}
        disabled={removal.isPending}
        onClick={() => removal.mutate()}
      >
        <Trash2 aria-hidden="true" />
      </Button>
      <ActionFailure error={removal.error} />
    </li>
  );
}

interface NewNoteProps {
  readonly workspaceId: string;
  readonly deviceIds: readonly string[];
  readonly at: number;
  readonly zone: string;
}

const textMax = 2_000;
/** More devices are offered on their own pages. */
const devicesOffered = 50;

function NewNote({ workspaceId, deviceIds, at, zone }: NewNoteProps) {
  const words = useWords(noteWords);
  const offered = deviceIds.slice(0, devicesOffered);
  const devices = useDevicesById(workspaceId, offered);
  const [text, setText] = useState('');
  const [from, setFrom] = useState(() => localOf(new Date(at * 1_000).toISOString(), zone));
  const [until, setUntil] = useState('');
  const [deviceId, setDeviceId] = useState('');
  const isWrong = until !== '' && until <= from;
  const creation = useAction({
    mutationFn: () => {
      const body = {
        workspaceId,
        text: text.trim(),
        at: instantOfLocal(from, zone),
        ...(until !== '' && { until: instantOfLocal(until, zone) }),
        ...(deviceId !== '' && { deviceId }),
      };
      return ask(platform.POST('/v3/annotations', { body }));
    },
    onSuccess: async () => {
      await refreshNotes(workspaceId);
      setText('');
      setUntil('');
      toast(words.added);
    },
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    creation.mutate();
  };
  return (
    <form className="stack gap-12" aria-label={words.add} onSubmit={send}>
      <TextArea
        label={words.text}
        rows={2}
        required
        maxLength={textMax}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <div className={`columns align-start gap-12 ${styles['fields']}`}>
        <TextField
          label={words.at}
          type="datetime-local"
          required
          value={from}
          hint={zone}
          onChange={({ target }) => setFrom(target.value)}
        />
        <TextField
          label={words.until}
          type="datetime-local"
          value={until}
          hint={words.untilHint}
          error={isWrong ? words.untilWrong : undefined}
          onChange={({ target }) => setUntil(target.value)}
        />
        <SelectField
          label={words.about}
          value={deviceId}
          onChange={({ target }) => setDeviceId(target.value)}
        >
          <option value="">{words.workspace}</option>
          {offered.map((id) => (
            <option key={id} value={id}>
              {devices.get(id)?.name ?? id}
            </option>
          ))}
        </SelectField>
      </div>
      <ActionFailure error={creation.error} />
      <div>
        <Button
          needs="dashboard: create"
          look="primary"
          type="submit"
          disabled={creation.isPending || isWrong || text.trim() === '' || from === ''}
        >
          {words.add}
        </Button>
      </div>
    </form>
  );
}
