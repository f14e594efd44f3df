// Dashboards: every dashboard of the workspace, with what can be done to each, and the templates of new ones.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Copy, Pencil, Plus, Trash2, Upload } from 'lucide-react';
import { useId, useState } from 'react';
import { answers } from '../../api/answers.ts';
import { ask, platform } from '../../api/platform.ts';
import { Ago } from '../../ui/ago.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { ListPage, ListSearchField, PagedList } from '../../ui/paged-list.tsx';
import { RemoveDialog } from '../../ui/remove-record.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useWorkspaces } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import { type DataKey, dataKeysOf, type TopicSchemas } from '../device/data/data-keys.ts';
import { schemaQuery } from '../device/data/device-queries.ts';
import {
  type Configuration,
  configurationOf,
  labelOf,
  type Tile,
  type TileKind,
  type TileSeries,
  kinds,
} from '../../../../src/dashboards/configuration.ts';
import { DashboardName } from './dashboard-frame.tsx';
import {
  changeDashboard,
  createDashboard,
  type DashboardRow,
  dashboardsOf,
  refreshLists,
} from './dashboard-requests.ts';
import { dashboardsWords } from './dashboards-words.ts';
import { GrafanaImport } from './import/grafana-import.tsx';
import styles from './dashboards.module.css';
import { freePlace } from './grid/layout.ts';

export function Dashboards() {
  const words = useWords(dashboardsWords);
  const from = '/signed-in/shell/w/$workspaceId/dashboards';
  const { workspaceId } = useParams({ from });
  const search = useSearch({ from });
  const [isAsked, setAsked] = useState(false);
  const [isImporting, setImporting] = useState(false);
  const answer = useQuery(dashboardsOf(workspaceId, search));
  const path = `/v3/dashboards?workspaceId=${workspaceId}`;
  const add = (
    <>
      <Button needs="dashboard: create" onClick={() => setImporting(true)}>
        <Upload aria-hidden="true" />
        {words.importFromGrafana}
      </Button>
      <Button needs="dashboard: create" look="primary" onClick={() => setAsked(true)}>
        <Plus aria-hidden="true" />
        {words.add}
      </Button>
    </>
  );
  const isEmpty = answer.data?.totalElements === 0 && search.q === undefined;
  return (
    <ListPage words={words} answer={answer} path={path} actions={!isEmpty && add}>
      {!isEmpty && <ListSearchField label={words.search} />}
      <PagedList
        answer={answer}
        path={path}
        headers={[words.name, words.changed]}
        actions={words.actions}
        words={words}
        add={add}
        row={(dashboard) => <DashboardLine dashboard={dashboard} workspaceId={workspaceId} />}
      />
      {isImporting && <GrafanaImport workspaceId={workspaceId} close={() => setImporting(false)} />}
      {isAsked && <NewDashboard workspaceId={workspaceId} close={() => setAsked(false)} />}
    </ListPage>
  );
}

interface DashboardLineProps {
  readonly dashboard: DashboardRow;
  readonly workspaceId: string;
}

function DashboardLine({ dashboard, workspaceId }: DashboardLineProps) {
  const { id, name, description, created, updated } = dashboard;
  return (
    <tr>
      <th scope="row">
        <Link
          to="/w/$workspaceId/dashboards/$dashboardId"
          params={{ workspaceId, dashboardId: id }}
        >
          {name}
        </Link>
        {(description ?? '') !== '' && <small className="mute">{description}</small>}
      </th>
      <td className="mute">
        <Ago at={updated ?? created} />
      </td>
      <td>
        <RowActions dashboard={dashboard} workspaceId={workspaceId} />
      </td>
    </tr>
  );
}

// New dashboard: its name, and whether it starts empty or with the devices of the workspace.

interface NewDashboardProps {
  readonly workspaceId: string;
  readonly close: () => void;
}

function NewDashboard({ workspaceId, close }: NewDashboardProps) {
  const words = useWords(dashboardsWords);
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [wanted, setTemplate] = useState<TemplateName>('glance');
  const devices = useQuery(measuringDevices(workspaceId));
  const hasNumbers = devices.data !== undefined && devices.data.length > 0;
  const template = devices.isSuccess && !hasNumbers ? 'empty' : wanted;
  const workspaces = useWorkspaces();
  const workspace = workspaces.data?.content.find(({ id }) => id === workspaceId);
  const create = useAction({
    mutationFn: () => {
      const tiles = tilesOf(template, devices.data ?? []);
      const configuration = configurationOf(tiles, workspace?.settings?.timezone ?? undefined);
      return createDashboard({ workspaceId, name, configuration });
    },
    async onSuccess({ id }) {
      void refreshLists();
      await navigate({
        to: '/w/$workspaceId/dashboards/$dashboardId',
        params: { workspaceId, dashboardId: id },
        search: template === 'empty' ? { edit: true } : {},
      });
    },
  });
  return (
    <FormDialog
      title={words.add}
      isWide
      submitLabel={words.create}
      isBusy={create.isPending}
      error={create.error}
      submit={() => create.mutate()}
      close={close}
    >
      <DashboardName value={name} change={setName} />
      <Templates
        chosen={template}
        choose={setTemplate}
        isPossible={(one) => one === 'empty' || hasNumbers}
      />
      {devices.isSuccess && !hasNumbers && <p className="mute">{words.noData}</p>}
    </FormDialog>
  );
}

interface TemplatesProps {
  readonly chosen: TemplateName;
  readonly choose: (template: TemplateName) => void;
  readonly isPossible: (template: TemplateName) => boolean;
}

function Templates({ chosen, choose, isPossible }: TemplatesProps) {
  const words = useWords(dashboardsWords);
  const group = useId();
  return (
    <fieldset className="stack gap-16">
      <legend className="sr">{words.startWith}</legend>
      <div className={styles['templates']}>
        {templateNames.map((template) => (
          <label key={template}>
            <input
              type="radio"
              name={group}
              value={template}
              disabled={!isPossible(template)}
              checked={template === chosen}
              onChange={() => choose(template)}
            />
            <b>{words.templates[template]}</b>
            <small>{words.templateNotes[template]}</small>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

// Row actions: rename, duplicate and delete one dashboard of the list.

interface RowActionsProps {
  readonly dashboard: DashboardRow;
  readonly workspaceId: string;
}

function RowActions({ dashboard, workspaceId }: RowActionsProps) {
  const words = useWords(dashboardsWords);
  const { id, name } = dashboard;
  const [open, setOpen] = useState<'rename' | 'remove'>();
  const duplicate = useAction({
    async mutationFn() {
      const params = { path: { id } };
      const whole = await ask(platform.GET('/v3/dashboards/{id}', { params }));
      const { description, configuration } = whole;
      return createDashboard({
        workspaceId,
        name: words.copyOf(name),
        description,
        configuration: configuration as Configuration,
      });
    },
    onSuccess: (made) => toast(words.copied(made.name)),
    onError: toastFailure,
    onSettled: refreshLists,
  });
  const actions = [
    { label: words.renameOf(name), icon: Pencil, run: () => setOpen('rename'), verb: 'update' },
    { label: words.duplicateOf(name), icon: Copy, run: () => duplicate.mutate(), verb: 'create' },
    { label: words.removeOf(name), icon: Trash2, run: () => setOpen('remove'), verb: 'delete' },
  ] as const;
  const close = () => setOpen(undefined);
  return (
    <>
      {actions.map(({ label, icon, run, verb }) => (
        <IconButton
          key={label}
          label={label}
          icon={icon}
          needs={`dashboard: ${verb}`}
          onClick={run}
        />
      ))}
      {open === 'rename' && <Rename dashboard={dashboard} close={close} />}
      {open === 'remove' && <Remove dashboard={dashboard} close={close} />}
    </>
  );
}

interface RowDialogProps {
  readonly dashboard: DashboardRow;
  readonly close: () => void;
}

function Rename({ dashboard: { id, name: before, version }, close }: RowDialogProps) {
  const words = useWords(dashboardsWords);
  const [name, setName] = useState(before);
  const rename = useAction({
    mutationFn: () => changeDashboard(id, { name, version }),
    onSuccess() {
      toast(words.saved);
      close();
    },
    onSettled: refreshLists,
  });
  return (
    <FormDialog
      title={words.renameOf(before)}
      submitLabel={words.save}
      isBusy={rename.isPending}
      error={rename.error}
      submit={() => rename.mutate()}
      close={close}
    >
      <DashboardName value={name} change={setName} />
    </FormDialog>
  );
}

function Remove({ dashboard: { id, name }, close }: RowDialogProps) {
  const words = useWords(dashboardsWords);
  return (
    <RemoveDialog
      name={name}
      note={words.removeNote}
      send={() => ask(platform.DELETE('/v3/dashboards/{id}', { params: { path: { id } } }))}
      lists={[['dashboards']]}
      close={close}
    />
  );
}

// Measuring devices: the first devices of a workspace that have sent numbers, for templates.

const devicesMax = 50;
/** Schemas are asked for one by one; devices of one kind have the same. */
const schemasMax = 6;
/** Numbers that no one draws. */
const places = new Set(['latitude', 'longitude', 'altitude']);

const measuringDevices = (workspaceId: string) =>
  queryOptions({
    queryKey: ['measuring devices', workspaceId],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<readonly MeasuringDevice[]> => {
      const body = { workspaceId, size: devicesMax };
      const { content } = await ask(platform.POST('/v3/devices/query/latest', { signal, body }));
      const measuring = content
        .map(({ deviceId, samples }) => ({ id: deviceId, found: samples.flatMap(numbersOf) }))
        .filter(({ found }) => found.length > 0);
      const richest = measuring.toSorted((a, b) => b.found.length - a.found.length).slice(0, 1);
      const described = [...new Set([...richest, ...measuring])].slice(0, schemasMax);
      const [names, ...keys] = await Promise.all([
        namesOf(
          workspaceId,
          measuring.map(({ id }) => id),
        ),
        ...described.map(({ id }) => declaredKeys(id)),
      ]);
      const known = keys.flat();
      return measuring.map(({ id, found }) => ({
        id,
        name: names.get(id) ?? id,
        keys: inOrder(found, known),
      }));
    },
  });

interface Found {
  readonly topic: string;
  readonly key: string;
}

function numbersOf({ topic, data }: { topic: string; data: Readonly<Record<string, unknown>> }) {
  const names = Object.keys(data).filter((key) => typeof data[key] === 'number');
  return names.filter((key) => !places.has(key)).map((key): Found => ({ topic, key }));
}

/** Declared keys first, in the order of their schema. */
function inOrder(found: readonly Found[], known: readonly DataKey[]) {
  const placeOf = ({ topic, key }: Found) =>
    known.findIndex((one) => one.topic === topic && one.key === key);
  const last = known.length;
  const place = (one: Found) => (placeOf(one) === -1 ? last : placeOf(one));
  return found
    .toSorted((a, b) => place(a) - place(b))
    .map((one) => {
      const { title = one.key, unit = '' } = known[placeOf(one)] ?? {};
      return { ...one, title, unit };
    });
}

async function declaredKeys(deviceId: string): Promise<readonly DataKey[]> {
  const schemas: TopicSchemas = await answers.fetchQuery(schemaQuery(deviceId));
  return Object.keys(schemas).flatMap((topic) => dataKeysOf(schemas, topic));
}

async function namesOf(
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const query = { workspaceId, assetIds: ids.join(), fields: 'id,name', size: devicesMax };
  const { content } = await ask(platform.GET('/v3/assets', { params: { query } }));
  return new Map(content.map(({ id, name }) => [id, name]));
}

// Templates: first dashboards, filled with devices of the workspace that have sent numbers.

export const templateNames = ['glance', 'device', 'compare', 'empty'] as const;
export type TemplateName = (typeof templateNames)[number];

/** A number that a device has sent, with what its schema says of it. */
export interface MeasuredKey {
  readonly topic: string;
  readonly key: string;
  readonly title: string;
  readonly unit: string;
}

export interface MeasuringDevice {
  readonly id: string;
  readonly name: string;
  /** Numbers of its newest samples. */
  readonly keys: readonly MeasuredKey[];
}

const templateDevicesMax = 6;
const figuresMax = 4;
const tableMax = 20;

export function tilesOf(template: TemplateName, devices: readonly MeasuringDevice[]): Tile[] {
  const measuring = devices.filter(({ keys }) => keys.length > 0);
  const [first] = measuring;
  if (template === 'empty' || first === undefined) return [];
  if (template === 'device') return deviceTiles(measuring.reduce(more));
  return template === 'glance' ? glanceTiles(measuring) : compareTiles(measuring);
}

function glanceTiles(devices: readonly MeasuringDevice[]): Tile[] {
  const tiles = createTiles();
  const figures = devices.slice(0, figuresMax).map((device) => firstSeries(device));
  for (const series of figures) tiles.add('value', [series], labelOf(series));
  const [main] = figures;
  const key = devices[0]?.keys[0];
  if (main === undefined || key === undefined) return [];
  const alike = figures.filter(({ dataKey }) => dataKey === main.dataKey);
  tiles.add('line', alike, alike.length === 1 ? labelOf(main) : key.title);
  tiles.add(
    'table',
    devices.slice(0, tableMax).map((device) => firstSeries(device)),
  );
  return tiles.made;
}

function deviceTiles(device: MeasuringDevice): Tile[] {
  const tiles = createTiles();
  const all = device.keys.map((key) => seriesOf(device, key, key.title));
  for (const series of all.slice(0, figuresMax)) tiles.add('value', [series], labelOf(series));
  for (const series of all.slice(0, templateDevicesMax))
    tiles.add('line', [series], labelOf(series));
  return tiles.made;
}

function compareTiles(devices: readonly MeasuringDevice[]): Tile[] {
  const tiles = createTiles();
  const common = commonKey(devices);
  const having = devices.flatMap((device) => {
    const found = device.keys.find((key) => isSameKey(key, common));
    return found === undefined ? [] : [seriesOf(device, found, device.name)];
  });
  const shown = having.slice(0, templateDevicesMax);
  const [first] = shown;
  if (first === undefined) return [];
  const title = common.title;
  tiles.add('line', shown, title, [12, 5]);
  tiles.add('bar', shown.slice(0, figuresMax), title);
  tiles.add('table', having.slice(0, tableMax), title);
  return tiles.made;
}

/** The key that most devices have; of several such keys the one that is met first. */
function commonKey(devices: readonly MeasuringDevice[]): MeasuredKey {
  const all = devices.flatMap(({ keys }) => keys);
  const countOf = (key: MeasuredKey) => all.filter((other) => isSameKey(other, key)).length;
  const counted = all.map((key) => ({ key, count: countOf(key) }));
  return counted.reduce((best, one) => (one.count > best.count ? one : best)).key;
}

const isSameKey = (a: MeasuredKey, b: MeasuredKey) => a.topic === b.topic && a.key === b.key;

function more(best: MeasuringDevice, one: MeasuringDevice): MeasuringDevice {
  return one.keys.length > best.keys.length ? one : best;
}

function firstSeries(device: MeasuringDevice): TileSeries {
  const [key] = device.keys;
  if (key === undefined) throw new Error('a device without numbers is in no template');
  return { ...seriesOf(device, key, device.name) };
}

function seriesOf({ id }: MeasuringDevice, key: MeasuredKey, label: string): TileSeries {
  const unit = key.unit === '' ? {} : { unit: key.unit };
  return { deviceId: id, topic: key.topic, dataKey: key.key, label, ...unit };
}

function createTiles() {
  const made: Tile[] = [];
  return {
    made,
    add(
      kind: TileKind,
      series: readonly TileSeries[],
      title?: string,
      size: readonly [number, number] = kinds[kind].size,
    ) {
      made.push({
        id: `tile-${made.length + 1}`,
        kind,
        ...freePlace(made, size),
        series: [...series],
        ...(title === undefined ? {} : { title }),
      });
    },
  };
}
