// Calculated keys tab: the formulas of a device type, what they would change in history, and the recalculation of it.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform, Refusal } from '../../api/platform.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Chip } from '../../ui/chip.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { formulaError, type FormulaError, FormulaField } from '../../ui/formula-field.tsx';
import { Empty, Failure } from '../../ui/states.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { StaleNotice } from '../../ui/unsaved-bar.tsx';
import { useAction } from '../../ui/use-action.ts';
import { type Draft, isStaleRefusal, useDraft } from '../../ui/use-editor.ts';
import { useMayDo } from '../../session/permissions.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { calculatedWords } from './device-type-words.ts';
import type { DeviceType } from './device-type-requests.ts';
import { useEditedType } from './edited-type.tsx';
import { diffLines, linesOf } from './json-lines.ts';
import { DiffBlock } from './results.tsx';
import styles from './schema.module.css';

const route = getRouteApi('/signed-in/shell/w/$workspaceId/types/$typeId/calculated');

type Key = DeviceType['calculatedKeys'][number];

export function CalculatedTab() {
  const { type } = useEditedType();
  const { id, version, calculatedKeys } = type;
  const draft = useDraft<readonly Key[]>(`${id} calculatedKeys`, calculatedKeys, { version });
  return (
    <div className={styles['topics']}>
      <KeysCard draft={draft} />
      <HistoryCard draft={draft} />
    </div>
  );
}

interface DraftProps {
  readonly draft: Draft<readonly Key[]>;
}

/** Which key the platform refused, and why. */
interface RefusedKey {
  readonly at: number;
  readonly message: string;
}

function KeysCard({ draft }: DraftProps) {
  const words = useWords(calculatedWords);
  const [edited, setEdited] = useState<number>();
  const [refused, setRefused] = useState<RefusedKey>();
  const keys = draft.value;
  const change = (next: readonly Key[]) => {
    setRefused(undefined);
    draft.change(next);
  };
  const saving = useSaveKeys(draft, setRefused);
  return (
    <Card
      title={words.title}
      note={words.note}
      actions={
        <>
          {draft.isChanged && (
            <>
              <Chip tone="warn">{words.unsaved}</Chip>
              <Button look="ghost" onClick={draft.discard}>
                {words.discard}
              </Button>
            </>
          )}
          <Button needs="deviceType: update" onClick={() => setEdited(keys.length)}>
            <Plus aria-hidden="true" />
            {words.add}
          </Button>
          <Button
            needs="deviceType: update"
            look="primary"
            disabled={!draft.isChanged || saving.isPending}
            onClick={() => saving.mutate(false)}
          >
            {words.save}
          </Button>
        </>
      }
    >
      {(draft.isStale || isStaleRefusal(saving.error)) && (
        <StaleNotice discard={draft.discard} save={() => saving.mutate(true)} />
      )}
      {keys.length === 0 ? (
        <Empty title={words.empty} note={words.emptyNote} />
      ) : (
        <KeyTable keys={keys} refused={refused} change={change} edit={setEdited} />
      )}
      {edited !== undefined && (
        <KeyDialog
          key={edited}
          keys={keys}
          at={edited}
          save={(key) => {
            change(keys.toSpliced(edited, 1, key));
            setEdited(undefined);
          }}
          close={() => setEdited(undefined)}
        />
      )}
    </Card>
  );
}

function useSaveKeys(draft: DraftProps['draft'], refuse: (refused: RefusedKey) => void) {
  const words = useWords(calculatedWords);
  const client = useQueryClient();
  const { type, update } = useEditedType();
  return useAction({
    mutationFn: async (isForced: boolean) => {
      const body = { calculatedKeys: [...draft.value] };
      const saved = await update(isForced ? body : { ...body, version: draft.version });
      return { before: type.calculatedKeys, saved };
    },
    onSuccess({ before, saved: { version } }) {
      draft.discard();
      const undo = () =>
        void update({ calculatedKeys: before, version })
          .then(() => toast(words.undone))
          .catch(toastFailure);
      toast(words.saved, undo);
    },
    onError(error) {
      const at = /calculatedKeys\.(\d+)/.exec(error.message)?.[1];
      if (isStaleRefusal(error))
        void client.invalidateQueries({ queryKey: ['device-type', type.id] });
      else if (error instanceof Refusal && at !== undefined)
        refuse({ at: Number(at), message: error.message });
      else toastFailure(error);
    },
  });
}

interface KeyTableProps {
  readonly keys: readonly Key[];
  readonly refused: RefusedKey | undefined;
  readonly change: (keys: readonly Key[]) => void;
  readonly edit: (at: number) => void;
}

function KeyTable({ keys, refused, change, edit }: KeyTableProps) {
  const words = useWords(calculatedWords);
  const mayEdit = useMayDo('deviceType: update');
  const swap = (at: number, other: number) => {
    const [one, two] = [keys[at], keys[other]];
    if (one !== undefined && two !== undefined) change(keys.with(at, two).with(other, one));
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus
    <div className={styles['scroll']} tabIndex={0} role="group" aria-label={words.title}>
      <table className={styles['table']}>
        <thead>
          <tr>
            <th scope="col">{words.key}</th>
            <th scope="col">{words.topic}</th>
            <th scope="col">{words.formula}</th>
            <th scope="col">{words.unit}</th>
            <th scope="col">{words.actions}</th>
          </tr>
        </thead>
        <tbody>
          {keys.map(({ key, topic, expression, unit }, at) => (
            <tr key={`${topic} ${key}`}>
              <td>
                <button
                  type="button"
                  disabled={!mayEdit}
                  title={words.edit(key)}
                  onClick={() => edit(at)}
                >
                  {key}
                </button>
              </td>
              <td className="mute">{topic}</td>
              <td>
                <code>{expression}</code>
                {refused?.at === at && <p className={styles['refused']}>{refused.message}</p>}
              </td>
              <td>{unit}</td>
              <td>
                <Button
                  needs="deviceType: update"
                  look="ghost"
                  isIcon
                  disabled={at === 0}
                  aria-label={words.up(key)}
                  onClick={() => swap(at, at - 1)}
                >
                  <ArrowUp aria-hidden="true" />
                </Button>
                <Button
                  needs="deviceType: update"
                  look="ghost"
                  isIcon
                  disabled={at === keys.length - 1}
                  aria-label={words.down(key)}
                  onClick={() => swap(at, at + 1)}
                >
                  <ArrowDown aria-hidden="true" />
                </Button>
                <Button
                  needs="deviceType: update"
                  look="ghost"
                  isIcon
                  aria-label={words.remove(key)}
                  onClick={() => change(keys.toSpliced(at, 1))}
                >
                  <Trash2 aria-hidden="true" />
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface KeyDialogProps {
  readonly keys: readonly Key[];
  /** Place of the edited key; behind the last for a new one. */
  readonly at: number;
  readonly save: (key: Key) => void;
  readonly close: () => void;
}

const none: Key = {
  key: '',
  topic: 'default',
  expression: '',
  title: null,
  unit: null,
  description: null,
};

function KeyDialog({ keys, at, save, close }: KeyDialogProps) {
  const words = useWords(calculatedWords);
  const [fields, setFields] = useState(keys[at] ?? none);
  const [error, setError] = useState<FormulaError>();
  const set = (change: Partial<Key>) => setFields({ ...fields, ...change });
  const { key, topic, expression, unit, title, description } = fields;
  const isTaken = keys.some((one, place) => place !== at && one.key === key && one.topic === topic);
  const check = useAction({
    mutationFn: () => formulaError(expression),
    onSuccess: (found) => {
      setError(found);
      if (found === undefined) save(fields);
    },
  });
  const optional = (text: string) => (text === '' ? null : text);
  return (
    <FormDialog
      title={keys[at]?.key ?? words.add}
      submitLabel={words.apply}
      isBusy={check.isPending}
      isIncomplete={key === '' || expression === '' || isTaken}
      error={check.error}
      submit={() => check.mutate()}
      close={close}
    >
      <TextField
        label={words.key}
        hint={words.keyHint}
        error={isTaken ? words.exists(key) : undefined}
        required
        value={key}
        onChange={({ target }) => set({ key: target.value.trim() })}
      />
      <FormulaField
        label={words.formula}
        isRequired
        value={expression}
        change={(typed) => set({ expression: typed })}
        error={error}
      />
      <TextField
        label={words.topic}
        required
        value={topic}
        onChange={({ target }) => set({ topic: target.value })}
      />
      <TextField
        label={words.unit}
        value={unit ?? ''}
        onChange={({ target }) => set({ unit: optional(target.value) })}
      />
      <TextField
        label={words.label}
        value={title ?? ''}
        onChange={({ target }) => set({ title: optional(target.value) })}
      />
      <TextField
        label={words.description}
        value={description ?? ''}
        onChange={({ target }) => set({ description: optional(target.value) })}
      />
    </FormDialog>
  );
}

// History: what the keys would change in stored samples, and the operation that changes it.

const sources = ['SAMPLES', 'UPLINKS'] as const;
type Source = (typeof sources)[number];
type Report = components['schemas']['RecalculationReport'];
type Operation = components['schemas']['Operation'];

// The document has two answers: that of a dry run, and that of an operation.
async function recalculated<Answer>(
  typeId: string,
  body: components['schemas']['RecalculationBody'],
): Promise<Answer> {
  const params = { path: { id: typeId } };
  return (await ask<unknown>(
    platform.POST('/v3/device-types/{id}/recalculate', { params, body }),
  )) as Answer;
}

function HistoryCard({ draft }: DraftProps) {
  const words = useWords(calculatedWords);
  const { type, workspaceId } = useEditedType();
  const { operation } = route.useSearch();
  const [source, setSource] = useState<Source>('SAMPLES');
  const [isAsked, setAsked] = useState(false);
  const preview = useAction({
    mutationFn: (calculatedKeys: readonly Key[]) => {
      const body = { source, workspaceId, calculatedKeys: [...calculatedKeys], dryRun: true };
      return recalculated<Report>(type.id, body);
    },
  });
  return (
    <Card
      title={words.history}
      note={words.historyNote}
      actions={
        <>
          <Button
            needs="asset: delete"
            disabled={preview.isPending}
            onClick={() => preview.mutate(draft.value)}
          >
            {words.preview}
          </Button>
          <Button
            needs="asset: delete"
            look="danger"
            disabled={draft.isChanged}
            title={draft.isChanged ? words.saveFirst : undefined}
            onClick={() => setAsked(true)}
          >
            {words.recalculate}
          </Button>
        </>
      }
    >
      <div className={styles['history']}>
        <SelectField
          label={words.source}
          value={source}
          onChange={({ target }) => setSource(target.value as Source)}
        >
          {sources.map((name) => (
            <option key={name} value={name}>
              {words.sources[name]}
            </option>
          ))}
        </SelectField>
        {preview.isPending && <p role="status">{words.previewing}</p>}
        {preview.error !== null && <Failure error={preview.error} />}
        {preview.data !== undefined && !preview.isPending && <Preview report={preview.data} />}
        {operation !== undefined && <Progress key={operation} id={operation} />}
      </div>
      {isAsked && <RecalculateDialog source={source} close={() => setAsked(false)} />}
    </Card>
  );
}

const examplesMax = 20;

function Preview({
  report: { samples, changed, complete, differences },
}: {
  readonly report: Report;
}) {
  const words = useWords(calculatedWords);
  const formats = useFormats();
  if (samples === 0) return <p role="status">{words.nothing}</p>;
  return (
    <>
      <p role="status" className="row wrap gap-y-4 gap-x-12">
        <strong>{words.changes(changed, samples)}</strong>
        {!complete && <Chip tone="warn">{words.incomplete}</Chip>}
        <span className="mute">{words.fifty}</span>
      </p>
      {differences.length > 0 && (
        <ul aria-label={words.examples} className="stack gap-8">
          {differences.slice(0, examplesMax).map(({ deviceId, topic, timestamp, ...one }) => (
            <li key={`${deviceId} ${topic} ${timestamp} ${JSON.stringify(one.new)}`}>
              <span className="num mute">{formats.instant(timestamp)}</span> {topic}
              <DiffBlock lines={diffLines(linesOf(one.old), linesOf(one.new))} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function RecalculateDialog({
  source,
  close,
}: {
  readonly source: Source;
  readonly close: () => void;
}) {
  const words = useWords(calculatedWords);
  const { type, workspaceId } = useEditedType();
  const navigate = useNavigate();
  const start = useAction({
    mutationFn: () => recalculated<Operation>(type.id, { source, workspaceId }),
    onSuccess: ({ id }) => {
      close();
      void navigate({ to: '.', search: { operation: id }, replace: true });
    },
  });
  return (
    <FormDialog
      title={words.recalculateTitle}
      submitLabel={words.submit}
      isBusy={start.isPending}
      error={start.error}
      submit={() => start.mutate()}
      close={close}
    >
      <p>{words.sources[source]}</p>
      <p>{words.recalculateNote}</p>
      {source === 'UPLINKS' && <p>{words.uplinksNote}</p>}
    </FormDialog>
  );
}

const pollMs = 500;

function Progress({ id }: { readonly id: string }) {
  const words = useWords(calculatedWords);
  const params = { path: { id } };
  const { data, error } = useQuery({
    queryKey: ['operation', id],
    queryFn: ({ signal }) => ask(platform.GET('/v3/operations/{id}', { signal, params })),
    refetchInterval: ({ state }) =>
      state.data === undefined || state.data.completed === null ? pollMs : false,
  });
  const client = useQueryClient();
  const cancel = useAction({
    mutationFn: () => ask(platform.POST('/v3/operations/{id}/cancel', { params })),
    onSuccess: () => client.invalidateQueries({ queryKey: ['operation', id] }),
    onError: toastFailure,
  });
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return null;
  const { totalActionsRequired: total, actionsCompleted: done, actionsFailed: failed } = data;
  if (data.completed === null)
    return (
      <div className="row gap-12">
        <progress aria-label={words.progress} max={total} value={done} />
        <span role="status">{words.running(done, total)}</span>
        <Button needs="asset: update" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
          {words.cancel}
        </Button>
      </div>
    );
  const samples = data.actions.reduce((sum, action) => sum + (action.data.samples ?? 0), 0);
  // The answer has the first devices.
  const changed = data.actions.length < done ? words.doneMore : words.done;
  const reasons = data.actions.flatMap(({ data: { name, error: why, reason } }) =>
    (why ?? reason) === undefined ? [] : [`${name}: ${why ?? reason}`],
  );
  return (
    <>
      <p role="status" className="row wrap gap-12">
        <strong>{data.canceled ? words.canceled(done, total) : changed(samples, done)}</strong>
        {failed > 0 && <Chip tone="bad">{words.failed(failed)}</Chip>}
      </p>
      {reasons.map((reason) => (
        <p key={reason} className="mute">
          {reason}
        </p>
      ))}
    </>
  );
}
