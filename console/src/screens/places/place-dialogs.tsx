// Place dialogs: create or edit a place, move it below another, delete it, and import places from a file.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ask, platform, Refusal } from '../../api/platform.ts';
import { placesOf } from '../../api/workspace-records.ts';
import { ConfirmDialog, Dialog, FormDialog } from '../../ui/dialog.tsx';
import { editingWords } from '../../ui/editing-words.ts';
import { SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useFormSave } from '../../ui/use-form-save.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { changePlace, type Place, placesKey } from './place-requests.ts';
import { placesWords } from './places-words.ts';
import styles from './places.module.css';
import type { components } from '../../../generated/interface-types.ts';
import { ActionFailure } from '../../ui/action-failure.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { FileDrop } from '../../ui/file-drop.tsx';

interface PlaceDialogProps {
  readonly workspaceId: string;
  /** Of a new place. */
  readonly parentId: string | null;
  /** None for a new one. */
  readonly place?: Place | undefined;
  readonly close: () => void;
}

interface Fields {
  readonly name: string;
  readonly kind: string | null;
  readonly description: string | null;
  readonly externalId: string | null;
  readonly position: Place['position'];
}

export function PlaceDialog({ workspaceId, parentId, place, close }: PlaceDialogProps) {
  const words = useWords(placesWords);
  const navigate = useNavigate();
  const { save, faultOf, isBusy, error } = useFormSave({
    send: (fields: Fields): Promise<Place> =>
      place === undefined
        ? ask(platform.POST('/v3/places', { body: { workspaceId, parentId, ...fields } }))
        : changePlace(place, fields),
    fields: ['name', 'kind', 'description', 'externalId', 'position'],
    refreshes: [placesKey(workspaceId)],
    message: ({ name }) => words.savedNamed(name),
    close,
    open: ({ id }) => {
      if (place === undefined)
        void navigate({
          to: '/w/$workspaceId/places/$placeId',
          params: { workspaceId, placeId: id },
        });
    },
  });
  const text = (given: FormData, name: string) => String(given.get(name)).trim();
  const submit = (given: FormData) => {
    const [latitude, longitude] = [text(given, 'latitude'), text(given, 'longitude')];
    const hasPosition = latitude !== '' && longitude !== '';
    save({
      name: text(given, 'name'),
      kind: text(given, 'kind') || null,
      description: text(given, 'description') || null,
      externalId: text(given, 'externalId') || null,
      position: hasPosition ? { latitude: Number(latitude), longitude: Number(longitude) } : null,
    });
  };
  return (
    <FormDialog
      title={place === undefined ? words.add : words.editNamed(place.name)}
      submitLabel={words.save}
      submit={submit}
      isBusy={isBusy}
      error={error}
      close={close}
    >
      <TextField
        label={words.name}
        name="name"
        required
        pattern=".*\S.*"
        maxLength={500}
        autoComplete="off"
        defaultValue={place?.name ?? ''}
        error={faultOf('name')}
      />
      <TextField
        label={words.kind}
        name="kind"
        hint={words.kindHint}
        maxLength={100}
        autoComplete="off"
        defaultValue={place?.kind ?? ''}
        error={faultOf('kind')}
      />
      <TextArea
        label={words.description}
        name="description"
        rows={2}
        defaultValue={place?.description ?? ''}
        error={faultOf('description')}
      />
      <TextField
        label={words.externalId}
        name="externalId"
        hint={words.externalIdHint}
        maxLength={200}
        autoComplete="off"
        defaultValue={place?.externalId ?? ''}
        error={faultOf('externalId')}
      />
      <div className={styles['pair']}>
        <Degrees
          label={words.latitude}
          name="latitude"
          max={90}
          value={place?.position?.latitude}
        />
        <Degrees
          label={words.longitude}
          name="longitude"
          max={180}
          value={place?.position?.longitude}
        />
      </div>
    </FormDialog>
  );
}

interface DegreesProps {
  readonly label: string;
  readonly name: string;
  readonly max: number;
  readonly value: number | undefined;
}

function Degrees({ label, name, max, value }: DegreesProps) {
  return (
    <TextField
      label={label}
      name={name}
      type="number"
      step="any"
      min={-max}
      max={max}
      defaultValue={value ?? ''}
    />
  );
}

interface OnPlaceProps {
  readonly place: Place;
  readonly close: () => void;
}

export function MoveDialog({ place, close }: OnPlaceProps) {
  const words = useWords(placesWords);
  const { workspaceId } = place;
  const choices = useQuery(placesOf(workspaceId)).data ?? [];
  const [parentId, setParentId] = useState(place.parentId ?? '');
  const { save, isBusy, error } = useFormSave({
    send: () => changePlace(place, { parentId: parentId === '' ? null : parentId }),
    refreshes: [placesKey(workspaceId)],
    message: ({ name, path }) => words.moved(name, path.at(-2)?.name ?? words.top),
    close,
  });
  return (
    <FormDialog
      title={words.moveNamed(place.name)}
      submitLabel={words.move}
      submit={() => save(undefined)}
      isBusy={isBusy}
      error={error}
      close={close}
    >
      <SelectField
        label={words.moveTo}
        value={parentId}
        onChange={({ currentTarget: { value } }) => setParentId(value)}
      >
        <option value="">{words.top}</option>
        {choices
          .filter(({ id }) => id !== place.id)
          .map(({ id, path }) => (
            <option key={id} value={id}>
              {path}
            </option>
          ))}
      </SelectField>
    </FormDialog>
  );
}

/** A refusal says what is at the place; then everything below can be deleted with it. */
export function DeleteDialog({ place, close }: OnPlaceProps) {
  const words = useWords(placesWords);
  const texts = useWords(editingWords);
  const known = useQueryClient();
  const navigate = useNavigate();
  const { id, name, workspaceId, parentId } = place;
  const remove = useAction({
    mutationFn: ({ force }: { readonly force: boolean }) =>
      ask(
        platform.DELETE('/v3/places/{id}', {
          params: { path: { id }, query: force ? { force } : {} },
        }),
      ),
    onSuccess: async () => {
      toast(texts.removed(name));
      close();
      await navigate(
        parentId === null
          ? { to: '/w/$workspaceId/places', params: { workspaceId } }
          : { to: '/w/$workspaceId/places/$placeId', params: { workspaceId, placeId: parentId } },
      );
      known.removeQueries({ queryKey: [...placesKey(workspaceId), 'one', id] });
      void known.invalidateQueries({ queryKey: placesKey(workspaceId) });
    },
  });
  const isUsed = remove.error instanceof Refusal && remove.error.status === 409;
  return (
    <ConfirmDialog
      title={texts.removeTitle(name)}
      note={isUsed ? words.forceNote : words.removeNote}
      confirmLabel={isUsed ? words.removeAll : texts.remove}
      cancelLabel={texts.cancel}
      isBusy={remove.isPending}
      error={remove.error}
      confirm={() => remove.mutate({ force: isUsed })}
      close={close}
    />
  );
}

// Import dialog: a CSV file of places is checked, its problems are listed by line, and only then it is stored.

type Report = components['schemas']['PlaceImportReport'];

const problemsShown = 100;

interface ImportDialogProps {
  readonly workspaceId: string;
  readonly close: () => void;
}

export function ImportDialog({ workspaceId, close }: ImportDialogProps) {
  const words = useWords(placesWords);
  const { count } = useFormats();
  const known = useQueryClient();
  const [file, setFile] = useState<File>();
  const check = useAction({ mutationFn: (chosen: File) => sendFile(workspaceId, chosen, true) });
  const store = useAction({
    mutationFn: (chosen: File) => sendFile(workspaceId, chosen, false),
    onSuccess: ({ created, updated }: Report) => {
      toast(words.imported(count(created + updated), created + updated));
      close();
      void known.invalidateQueries({ queryKey: placesKey(workspaceId) });
    },
  });
  const choose = (chosen: File | undefined) => {
    if (chosen === undefined) return;
    setFile(chosen);
    check.mutate(chosen);
  };
  const report = check.data;
  const isReady = report !== undefined && report.problems.length === 0;
  const another = () => {
    setFile(undefined);
    check.reset();
    store.reset();
  };
  return (
    <Dialog
      title={words.importTitle}
      isWide
      close={close}
      footer={
        <>
          <Button onClick={close}>{words.close}</Button>
          {file !== undefined && <Button onClick={another}>{words.otherFile}</Button>}
          <Button
            look="primary"
            disabled={!isReady || store.isPending}
            onClick={() => file !== undefined && store.mutate(file)}
          >
            {words.import}
          </Button>
        </>
      }
    >
      {file === undefined ? (
        <FileDrop accept=".csv,text/csv" words={words} choose={choose}>
          <span className="faint text-small">{words.importNote}</span>
        </FileDrop>
      ) : (
        <div className="stack fit gap-12" role="status">
          <b className="breaks">{file.name}</b>
          {check.isPending && <p>{words.checking}</p>}
          {report !== undefined && <Checked report={report} />}
        </div>
      )}
      <ActionFailure error={check.error ?? store.error} />
    </Dialog>
  );
}

function Checked({ report }: { readonly report: Report }) {
  const words = useWords(placesWords);
  const { count } = useFormats();
  const { created, updated, unchanged, problems } = report;
  if (problems.length === 0)
    return <p>{words.checked(count(created), count(updated), count(unchanged))}</p>;
  const more = problems.length - problemsShown;
  const shown = problems.slice(0, problemsShown).map((problem, at) => ({ ...problem, at }));
  return (
    <>
      <p>{words.problems(count(problems.length), problems.length)}</p>
      <div className={styles['problems']}>
        <DataTable
          label={words.importTitle}
          rows={shown}
          keyOf={({ at }) => String(at)}
          columns={[
            { key: 'line', header: words.line, cell: ({ line }) => count(line) },
            {
              key: 'column',
              header: words.column,
              cell: ({ column }) => column ?? words.wholeLine,
            },
            { key: 'problem', header: words.problem, cell: ({ message }) => message },
          ]}
        />
      </div>
      {more > 0 && <p className="mute">{words.moreProblems(count(more))}</p>}
    </>
  );
}

async function sendFile(workspaceId: string, file: File, dryRun: boolean): Promise<Report> {
  return ask(
    platform.POST('/v3/places/import', {
      params: { query: { workspaceId, dryRun } },
      headers: { 'content-type': 'text/csv' },
      body: (await file.text()) as never,
      bodySerializer: String,
    }),
  );
}
