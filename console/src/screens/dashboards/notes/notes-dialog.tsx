// Notes dialog: what a chart marks as a list, and a form for another note or for one of the list.
import { Link } from '@tanstack/react-router';
import { Pencil, Trash2 } from 'lucide-react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
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
  const { notes, alarms, deviceIds } = shown;
  const [edited, setEdited] = useState<Note>();
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
        <NoteForm
          key={edited?.id ?? ''}
          {...{ workspaceId, deviceIds, at, zone }}
          note={edited}
          close={() => setEdited(undefined)}
        />
        {rows.length === 0 ? (
          <p className="mute">{words.empty}</p>
        ) : (
          <ul className={styles['list']} aria-label={words.list}>
            {rows.map((row) =>
              'note' in row ? (
                <NoteRow
                  key={row.note.id}
                  note={row.note}
                  isEdited={row.note.id === edited?.id}
                  edit={setEdited}
                  instant={instant}
                />
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
  readonly isEdited: boolean;
  readonly edit: (note: Note | undefined) => void;
  readonly instant: (iso: string) => string;
}

function NoteRow({ note, isEdited, edit, instant }: NoteRowProps) {
  const words = useWords(noteWords);
  const { id, workspaceId, at, until, text, by } = note;
  const removal = useAction({
    mutationFn: () => ask(platform.DELETE('/v3/annotations/{id}', { params: { path: { id } } })),
    onSuccess: async () => {
      if (isEdited) edit(undefined);
      await refreshNotes(workspaceId);
      toast(words.deleted);
    },
  });
  return (
    <li data-edited={isEdited}>
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
        needs="dashboard: update"
        aria-label={words.edit(text.slice(0, 100))}
        title={words.edit(text.slice(0, 100))}
        aria-pressed={isEdited}
        onClick={() => edit(isEdited ? undefined : note)}
      >
        <Pencil aria-hidden="true" />
      </Button>
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

interface NoteFormProps {
  readonly workspaceId: string;
  readonly deviceIds: readonly string[];
  readonly at: number;
  readonly zone: string;
  /** Undefined for a new one. */
  readonly note: Note | undefined;
  readonly close: () => void;
}

const textMax = 2_000;
/** More devices are offered on their own pages. */
const devicesOffered = 50;

function NoteForm({ workspaceId, deviceIds, at, zone, note, close }: NoteFormProps) {
  const words = useWords(noteWords);
  const about = note?.deviceId ?? undefined;
  const offered = [...new Set([...(about === undefined ? [] : [about]), ...deviceIds])].slice(
    0,
    devicesOffered,
  );
  const devices = useDevicesById(workspaceId, offered);
  const local = (iso: string | null | undefined) => (iso ? localOf(iso, zone) : '');
  const [text, setText] = useState(note?.text ?? '');
  const [from, setFrom] = useState(() => local(note?.at ?? new Date(at * 1_000).toISOString()));
  const [until, setUntil] = useState(() => local(note?.until));
  const [deviceId, setDeviceId] = useState(about ?? '');
  const isWrong = until !== '' && until <= from;
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const sending = useAction({
    mutationFn: () => {
      // What the form shows to the minute stays as it is, unless it is changed.
      const instantOf = (shown: string, iso: string | null | undefined) =>
        iso && shown === local(iso) ? iso : instantOfLocal(shown, zone);
      const body = {
        text: text.trim(),
        at: instantOf(from, note?.at),
        ...(until !== '' && { until: instantOf(until, note?.until) }),
        ...(deviceId !== '' && { deviceId }),
      };
      if (note === undefined)
        return ask(platform.POST('/v3/annotations', { body: { ...body, workspaceId } }));
      const { id, version } = note;
      const change = { until: null, deviceId: null, ...body, version };
      return ask(platform.PUT('/v3/annotations/{id}', { params: { path: { id } }, body: change }));
    },
    onSuccess: async () => {
      await refreshNotes(workspaceId);
      toast(note === undefined ? words.added : words.saved);
      if (note !== undefined) return close();
      setText('');
      setUntil('');
    },
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    sending.mutate();
  };
  const title = note === undefined ? words.add : words.save;
  return (
    <form className="stack gap-12" aria-label={title} onSubmit={send}>
      <TextArea
        ref={field}
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
        {/* A note about a place stays one. */}
        {(note?.placeId ?? null) === null && (
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
        )}
      </div>
      <ActionFailure error={sending.error} />
      <div className="row gap-8">
        <Button
          needs={note === undefined ? 'dashboard: create' : 'dashboard: update'}
          look="primary"
          type="submit"
          disabled={sending.isPending || isWrong || text.trim() === '' || from === ''}
        >
          {title}
        </Button>
        {note !== undefined && <Button onClick={close}>{words.cancel}</Button>}
      </div>
    </form>
  );
}
