// Device types: the organization's own and the library's, with what uses them in this workspace; new ones and an import.
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { FolderUp, Plus } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { Ago } from '../../ui/ago.tsx';
import { Button } from '../../ui/button.tsx';
import { Sheet } from '../../ui/card.tsx';
import { Chip } from '../../ui/chip.tsx';
import { Segments } from '../../ui/choice.tsx';
import { CurlButton } from '../../ui/copy-button.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Dialog, FormDialog } from '../../ui/dialog.tsx';
import { Page } from '../../ui/page.tsx';
import { useNarrow } from '../../ui/use-size.ts';
import { usePages } from '../../ui/rows/use-pages.ts';
import { type Column, WindowedTable } from '../../ui/rows/windowed-table.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { Bone, Empty, Failure } from '../../ui/states.tsx';
import { useFormSave } from '../../ui/use-form-save.ts';
import { useAccount } from '../../session/session.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { deviceTypesWords } from './device-types-words.ts';
import styles from './device-types.module.css';
import {
  type DeviceTypeItem,
  fetchTypes,
  firstCode,
  type FirstCode,
  typeQuery,
} from './device-type-requests.ts';
import { type TypeSearch, typeSources } from './type-search.ts';
import { useAction } from '../../ui/use-action.ts';

const route = getRouteApi('/signed-in/shell/w/$workspaceId/types');

type Health = components['schemas']['FlowHealth'];

export function DeviceTypes() {
  const words = useWords(deviceTypesWords);
  const { common, dialog, open } = usePageActions();
  return (
    <Page
      title={words.title}
      name={words.title}
      path={[words.title]}
      lead={words.lead}
      actions={common}
    >
      <TypeSearchBar />
      <TypeTable open={open} />
      {dialog}
    </Page>
  );
}

type Opened = 'create' | 'import';

function usePageActions() {
  const words = useWords(deviceTypesWords);
  const { organizationId } = useAccount();
  const [opened, open] = useState<Opened>();
  const path = pathOf(typeQuery(organizationId, route.useSearch()));
  const close = () => open(undefined);
  return {
    open,
    common: (
      <>
        <CurlButton request={{ path }} />
        <Button needs="deviceType: create" onClick={() => open('import')}>
          <FolderUp aria-hidden="true" />
          {words.importLibrary}
        </Button>
        <Button needs="deviceType: create" look="primary" onClick={() => open('create')}>
          <Plus aria-hidden="true" />
          {words.create}
        </Button>
      </>
    ),
    dialog: (
      <>
        {opened === 'create' && <NewType close={close} />}
        {opened === 'import' && <LibraryImport close={close} />}
      </>
    ),
  };
}

function TypeSearchBar() {
  const words = useWords(deviceTypesWords);
  const search = route.useSearch();
  const navigate = useNavigate();
  const change = (next: TypeSearch) => void navigate({ to: '.', search: next, replace: true });
  const { q: _q, ...withoutText } = search;
  const { source: _source, ...withoutSource } = search;
  return (
    <div className="flow wrap gap-8">
      <SearchField
        label={words.search}
        value={search.q ?? ''}
        change={(q) => change(q === '' ? withoutText : { ...search, q })}
      />
      <Segments
        label={words.source}
        value={search.source ?? 'all'}
        options={(['all', ...typeSources] as const).map((value) => ({
          value,
          label: words[value],
        }))}
        choose={(source) => change(source === 'all' ? withoutSource : { ...search, source })}
      />
    </div>
  );
}

function TypeTable({ open }: { readonly open: (what: Opened) => void }) {
  const words = useWords(deviceTypesWords);
  const { organizationId } = useAccount();
  const { workspaceId } = route.useParams();
  const search = route.useSearch();
  const navigate = useNavigate();
  const query = typeQuery(organizationId, search);
  const pages = usePages(['device-types', query], fetchTypes(query));
  const columns = useColumns(workspaceId);
  const path = pathOf(query);
  if (pages.total === undefined)
    return (
      <Sheet>
        {pages.error === null ? (
          <Skeleton />
        ) : (
          <Failure error={pages.error} retry={pages.refetch} curl={{ path }} />
        )}
      </Sheet>
    );
  if (pages.total === 0)
    return (
      <Sheet>
        <NoType isFiltered={search.q !== undefined || search.source !== undefined} open={open} />
      </Sheet>
    );
  return (
    <Sheet>
      <WindowedTable
        label={words.title}
        columns={columns}
        total={pages.total}
        rowAt={pages.rowAt}
        onView={pages.onView}
        open={({ id: typeId }) =>
          void navigate({ to: '/w/$workspaceId/types/$typeId', params: { workspaceId, typeId } })
        }
      />
    </Sheet>
  );
}

function NoType({
  isFiltered,
  open,
}: {
  readonly isFiltered: boolean;
  readonly open: (what: Opened) => void;
}) {
  const words = useWords(deviceTypesWords);
  if (isFiltered) return <Empty title={words.noMatch} note={words.noMatchNote} />;
  return (
    <Empty
      title={words.empty}
      note={words.emptyNote}
      actions={
        <>
          <Button needs="deviceType: create" onClick={() => open('import')}>
            {words.importLibrary}
          </Button>
          <Button needs="deviceType: create" look="primary" onClick={() => open('create')}>
            {words.create}
          </Button>
        </>
      }
    />
  );
}

const narrowColumns: ReadonlySet<string> = new Set(['name', 'devices']);

function useColumns(workspaceId: string): readonly Column<DeviceTypeItem>[] {
  const words = useWords(deviceTypesWords);
  const isNarrow = useNarrow();
  const columns = useMemo(
    (): readonly Column<DeviceTypeItem>[] => [
      {
        key: 'name',
        header: words.name,
        width: 'minmax(180px, 2fr)',
        cell: ({ id: typeId, name }) => (
          <Link to="/w/$workspaceId/types/$typeId" params={{ workspaceId, typeId }}>
            {name}
          </Link>
        ),
      },
      {
        key: 'source',
        header: words.source,
        width: '104px',
        cell: ({ type }) => <Chip tone={type === 'manual' ? 'sun' : 'plain'}>{words[type]}</Chip>,
      },
      {
        key: 'manufacturer',
        header: words.manufacturer,
        width: 'minmax(110px, 1.2fr)',
        cell: ({ meta }) => <span className="mute">{meta.manufacturer}</span>,
      },
      {
        key: 'connectivity',
        header: words.connectivity,
        width: '110px',
        cell: ({ meta }) => <span className="mute">{meta.connectivity}</span>,
      },
      {
        key: 'devices',
        header: words.devicesOf,
        width: '104px',
        cell: (item) => <Devices health={healthOf(item)} />,
      },
      {
        key: 'last',
        header: words.lastSample,
        width: '112px',
        cell: (item) => {
          const at = healthOf(item)?.lastSampleAt ?? null;
          return at === null ? <span className="faint">–</span> : <Ago at={at} />;
        },
      },
      {
        key: 'changed',
        header: words.changed,
        width: '120px',
        cell: ({ created, updated }) => <Ago at={updated ?? created} />,
      },
    ],
    [words, workspaceId],
  );
  return useMemo(
    () => (isNarrow ? columns.filter(({ key }) => narrowColumns.has(key)) : columns),
    [isNarrow, columns],
  );
}

/** In every workspace that the user can read. */
function Devices({ health }: { readonly health: Health | undefined }) {
  const words = useWords(deviceTypesWords);
  const formats = useFormats();
  const count = health?.deviceCount ?? 0;
  if (count === 0) return <span className="faint">{words.noDevices}</span>;
  return <span className="num">{words.devices(formats.count(count), count)}</span>;
}

function healthOf(item: DeviceTypeItem): Health | undefined {
  return 'health' in item ? (item.health ?? undefined) : undefined;
}

function Skeleton() {
  return (
    <div className={styles['skeleton']}>
      {['14em', '11em', '16em', '9em', '12em', '15em'].map((width) => (
        <Bone key={width} width={width} />
      ))}
    </div>
  );
}

function pathOf(query: ReturnType<typeof typeQuery>): string {
  const words = Object.entries(query).map(([name, value]) => [name, String(value)]);
  return `/v3/device-types?${new URLSearchParams(words)}`;
}

// New device type: its name and the code that it begins with; the editor opens on it.

function NewType({ close }: { readonly close: () => void }) {
  const words = useWords(deviceTypesWords);
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [begin, setBegin] = useState<FirstCode>('bytes');
  const { save, isBusy, error } = useCreate();
  return (
    <FormDialog
      title={words.create}
      submitLabel={words.createIt}
      submit={() => save({ name: name.trim(), description: description.trim(), begin })}
      isBusy={isBusy}
      error={error}
      close={close}
    >
      <TextField
        label={words.name}
        value={name}
        required
        autoFocus
        maxLength={255}
        onChange={({ target }) => setName(target.value)}
      />
      <TextField
        label={words.description}
        value={description}
        onChange={({ target }) => setDescription(target.value)}
      />
      <SelectField
        label={words.firstCode}
        value={begin}
        onChange={({ target }) => setBegin(target.value as FirstCode)}
      >
        {(['bytes', 'json', 'passes'] as const).map((one) => (
          <option key={one} value={one}>
            {words[one]}
          </option>
        ))}
      </SelectField>
    </FormDialog>
  );
}

interface NewTypeFields {
  readonly name: string;
  readonly description: string;
  readonly begin: FirstCode;
}

function useCreate() {
  const words = useWords(deviceTypesWords);
  const { organizationId } = useAccount();
  const { workspaceId } = route.useParams();
  const navigate = useNavigate();
  return useFormSave({
    send: ({ name, description, begin }: NewTypeFields) => {
      const code = firstCode[begin];
      const body = {
        name,
        organizationId,
        ...(description === '' ? {} : { description }),
        ...(code === null ? {} : { uplinkScript: { code } }),
        meta: begin === 'bytes' ? ({ encoding: 'HEX' } as const) : ({ encoding: 'JSON' } as const),
      };
      return ask(platform.POST('/v3/device-types', { body }));
    },
    refreshes: [['device-types']],
    message: ({ name }) => words.created(name),
    open: ({ id: typeId }) =>
      navigate({ to: '/w/$workspaceId/types/$typeId', params: { workspaceId, typeId } }),
  });
}

// Library import: a folder of device types is read in the browser and sent; refusals are listed by file.

type Summary = components['schemas']['LibraryImport'];

export function LibraryImport({ close }: { readonly close: () => void }) {
  const words = useWords(deviceTypesWords);
  const [files, setFiles] = useState<readonly LibraryFile[]>([]);
  const send = useImport();
  const isReady = typesAmong(files) > 0 && uploadBytesOf(files) <= uploadBytesMax;
  return (
    <Dialog
      title={words.importLibrary}
      close={close}
      isWide
      footer={
        send.data === undefined ? (
          <>
            <Button onClick={close}>{words.cancel}</Button>
            <Button
              look="primary"
              disabled={!isReady || send.isPending}
              onClick={() => send.mutate(files)}
            >
              {send.isPending ? words.importing : words.doImport}
            </Button>
          </>
        ) : (
          <Button key="done" look="primary" onClick={close}>
            {words.done}
          </Button>
        )
      }
    >
      <div className="stack gap-14">
        {send.data === undefined ? (
          <FolderChoice files={files} choose={setFiles} />
        ) : (
          <ImportSummary summary={send.data} />
        )}
        {send.error !== null && <Failure error={send.error} />}
      </div>
    </Dialog>
  );
}

function useImport() {
  const { organizationId } = useAccount();
  const client = useQueryClient();
  return useAction({
    mutationFn: async (files: readonly LibraryFile[]) => {
      const body = await libraryUploadOf(organizationId, files);
      return ask(platform.POST('/v3/device-types/import', { body }));
    },
    onSuccess: () =>
      Promise.all(
        ['device-types', 'device-type'].map((name) =>
          client.invalidateQueries({ queryKey: [name] }),
        ),
      ),
  });
}

interface FolderChoiceProps {
  readonly files: readonly LibraryFile[];
  readonly choose: (files: readonly LibraryFile[]) => void;
}

function FolderChoice({ files, choose }: FolderChoiceProps) {
  const words = useWords(deviceTypesWords);
  const formats = useFormats();
  const [isChosen, setChosen] = useState(false);
  const types = typesAmong(files);
  return (
    <>
      <p className="mute">{words.importNote}</p>
      <label>
        {words.folder}
        <input
          className={styles['file']}
          type="file"
          multiple
          ref={(input) => {
            if (input !== null) input.webkitdirectory = true;
          }}
          onChange={({ target }) => {
            setChosen(true);
            choose(libraryFilesIn(target.files ?? []));
          }}
        />
      </label>
      <p role="status">
        {isChosen && types === 0 && words.noTypes}
        {types > 0 && words.found(files.length, types)}
        {uploadBytesOf(files) > uploadBytesMax &&
          ` ${words.tooLarge(formats.bytes(uploadBytesMax))}`}
      </p>
    </>
  );
}

function ImportSummary({ summary }: { readonly summary: Summary }) {
  const words = useWords(deviceTypesWords);
  const formats = useFormats();
  const { created, updated, unchanged, problems, warnings } = summary;
  const counts = [created, updated, unchanged].map(formats.count) as [string, string, string];
  return (
    <>
      <p role="status">
        <strong>{words.imported(...counts)}</strong>
      </p>
      <Notes title={words.problems} notes={problems} />
      <Notes title={words.warnings} notes={warnings} />
    </>
  );
}

function Notes({
  title,
  notes,
}: {
  readonly title: ReactNode;
  readonly notes: Summary['problems'];
}) {
  if (notes.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus */}
      <ul className={styles['notes']} tabIndex={0}>
        {notes.map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            <span className="mono">{path}</span> {message}
          </li>
        ))}
      </ul>
    </section>
  );
}

// Library files: what a chosen folder holds for the import of a device type library (contract 7).

type LibraryUpload = components['schemas']['LibraryUpload'];

const textForm = /\.(json|js)$/i;
const pictureForm = /\.(png|jpe?g|gif|webp)$/i;
const skippedForm = /(^|\/)(\.[^/]*|node_modules)\//;

/** Limit of one request, with room for its own syntax, in bytes. */
const uploadBytesMax = 120 * 1024 * 1024;
const base64Growth = 4 / 3;

interface LibraryFile {
  /** Below the chosen folder, with slashes. */
  readonly path: string;
  readonly file: File;
}

/** Files that the import reads; hidden folders and installed packages stay out. */
function libraryFilesIn(chosen: Iterable<File>): LibraryFile[] {
  return [...chosen]
    .map((file) => ({ file, path: file.webkitRelativePath || file.name }))
    .filter(({ path }) => textForm.test(path) || pictureForm.test(path))
    .filter(({ path }) => !skippedForm.test(path));
}

function typesAmong(files: readonly LibraryFile[]): number {
  return files.filter(({ path }) => /(^|\/)meta\.json$/.test(path)).length;
}

function uploadBytesOf(files: readonly LibraryFile[]): number {
  const sizeOf = ({ path, file }: LibraryFile) =>
    file.size * (textForm.test(path) ? 1 : base64Growth);
  return files.reduce((sum, file) => sum + sizeOf(file), 0);
}

async function libraryUploadOf(
  organizationId: string,
  chosen: readonly LibraryFile[],
): Promise<LibraryUpload> {
  const files: Record<string, string> = {};
  const pictures: Record<string, string> = {};
  for (const { path, file } of chosen) {
    if (textForm.test(path)) files[path] = await file.text();
    else pictures[path] = new Uint8Array(await file.arrayBuffer()).toBase64();
  }
  return { organizationId, files, pictures };
}
