// Dashboard: one page of tiles, found by its id, with its loading and error states.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import {
  ArrowRightFromLine,
  Braces,
  Copy,
  Download,
  Ellipsis,
  Expand,
  History,
  Mail,
  Pencil,
  Plus,
  Printer,
  Share2,
  Shrink,
  SlidersHorizontal,
  Undo2,
} from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { CurlRequest } from '../../api/curl.ts';
import { useWorkspaces } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { Sheet } from '../../ui/card.tsx';
import { CurlButton } from '../../ui/copy-button.tsx';
import { late } from '../../ui/late.tsx';
import { TimeMachine, withMoment } from '../../ui/late-time-machine.ts';
import { Menu, type MenuItem } from '../../ui/menu.tsx';
import { Page } from '../../ui/page.tsx';
import { useNarrow } from '../../ui/use-size.ts';
import { Answered, Empty } from '../../ui/states.tsx';
import { TimeMachineButton } from '../../ui/time-machine-button.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { ReadOnlyNote, UnsavedBar } from '../../ui/unsaved-bar.tsx';
import type { Editor } from '../../ui/use-editor.ts';
import { useWords } from '../../words/language.tsx';
import { DashboardBones, DashboardFrame } from './dashboard-frame.tsx';
import {
  type Configuration,
  freeId,
  kinds,
  readConfiguration,
  type Tile,
} from '../../../../src/dashboards/configuration.ts';
import {
  createDashboard,
  type Dashboard,
  dashboardOf,
  refreshLists,
  useDashboardEdit,
  useReader,
} from './dashboard-requests.ts';
import { VariableBar } from './variable-bar.tsx';
import { useVariables, withChoice } from './variable-values.ts';
import type { DashboardSearch } from './dashboard-search.ts';
import { dashboardsWords } from './dashboards-words.ts';
import styles from './dashboards.module.css';
import { intervalShown, zoneShown } from './data/dashboard-range.ts';
import { arranged, freePlace, without } from './grid/layout.ts';
import { TileEditor, TileGrid } from './grid/tile-grid.tsx';
import { RangeBar, RangeSentence } from './range-bar.tsx';
import { duplicated } from './tiles/copied-tile.ts';
import { menuWords } from './tiles/menu-words.ts';
import { type TileAct, useTitleOf } from './tiles/tile-data.ts';

export function DashboardPage() {
  const words = useWords(dashboardsWords);
  const { workspaceId, dashboardId } = useParams({
    from: '/signed-in/shell/w/$workspaceId/dashboards/$dashboardId',
  });
  const search = useSearch({ from: '/signed-in/shell/w/$workspaceId/dashboards/$dashboardId' });
  const answer = useQuery(dashboardOf(dashboardId, useReader()));
  const request: CurlRequest = { path: `/v3/dashboards/${dashboardId}` };
  const list = (
    <Link to="/w/$workspaceId/dashboards" params={{ workspaceId }}>
      {words.title}
    </Link>
  );
  const inPage = (name: string, children: ReactNode) => (
    <Page title={name} name={name} path={[list, name]}>
      <Sheet>{children}</Sheet>
    </Page>
  );
  if (answer.data === undefined)
    return inPage(
      words.title,
      <Answered answer={answer} curl={request} skeleton={<DashboardBones />}>
        {() => null}
      </Answered>,
    );
  const dashboard = answer.data;
  if (search.version !== undefined && search.version !== dashboard.version)
    return (
      <VersionPage dashboard={dashboard} version={search.version} search={search} list={list} />
    );
  const configuration = readConfiguration(dashboard.configuration);
  if (configuration === undefined)
    return inPage(dashboard.name, <Empty title={words.foreign} note={words.foreignNote} />);
  return (
    <DashboardEditor
      key={dashboard.id}
      dashboard={dashboard}
      configuration={configuration}
      list={list}
    />
  );
}

// Undo: takes back the edits of a dashboard one by one, until it is saved or left.

const stepsMax = 50;

interface Undoable<T> extends Editor<T> {
  /** Undefined without an edit to take back. */
  readonly undo: (() => void) | undefined;
}

function useUndo<T>(editor: Editor<T>): Undoable<T> {
  const [past, setPast] = useState<readonly T[]>([]);
  // What was saved or discarded is not taken back any more.
  const kept = editor.isChanged ? past : [];
  const last = kept.at(-1);
  return {
    ...editor,
    change: (value) => {
      setPast([...kept, editor.value].slice(-stepsMax));
      editor.change(value);
    },
    undo:
      last === undefined
        ? undefined
        : () => {
            setPast(kept.slice(0, -1));
            editor.change(last);
          },
  };
}

/** Also Ctrl Z or Cmd Z, outside of a field. */
function UndoButton({ undo }: Pick<Undoable<unknown>, 'undo'>) {
  const words = useWords(dashboardsWords);
  const latest = useRef(undo);
  useEffect(() => {
    latest.current = undo;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isKey = event.key === 'z' && (event.ctrlKey || event.metaKey) && !event.shiftKey;
      const isField = (event.target as Element).closest('input, textarea, select') !== null;
      if (!isKey || isField || latest.current === undefined) return;
      event.preventDefault();
      latest.current();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <Button disabled={undo === undefined} aria-keyshortcuts="Control+Z Meta+Z" onClick={undo}>
      <Undo2 aria-hidden="true" />
      {words.undo}
    </Button>
  );
}

const DashboardSettings = late('DashboardSettings', async () => {
  return (await import('./dashboard-settings.tsx')).DashboardSettings;
});
const ShareDialog = late(
  'ShareDialog',
  async () => (await import('./share/share-dialog.tsx')).ShareDialog,
);
const VersionPage = late('VersionPage', async () => (await import('./versions.tsx')).VersionPage);
const VersionsDialog = late(
  'VersionsDialog',
  async () => (await import('./versions.tsx')).VersionsDialog,
);
const ReportsDialog = late(
  'ReportsDialog',
  async () => (await import('./mail/reports-dialog.tsx')).ReportsDialog,
);
const DownloadDialog = late(
  'DownloadDialog',
  async () => (await import('./mail/download-dialog.tsx')).DownloadDialog,
);
const CopyTileDialog = late(
  'CopyTileDialog',
  async () => (await import('./tiles/copy-dialogs.tsx')).CopyTileDialog,
);
const CopyDashboardDialog = late(
  'CopyDashboardDialog',
  async () => (await import('./tiles/copy-dialogs.tsx')).CopyDashboardDialog,
);
const JsonDialog = late('JsonDialog', async () => (await import('./json-dialog.tsx')).JsonDialog);
const TileForm = late('TileForm', async () => (await import('./form/tile-form.tsx')).TileForm);

interface DashboardEditorProps {
  readonly dashboard: Dashboard;
  readonly configuration: Configuration;
  readonly list: ReactNode;
}

type Named = 'share' | 'settings' | 'versions' | 'json' | 'reports' | 'download' | 'copy';
/** A tile is open in its form, to be copied elsewhere, or as CSV. */
type Open = Named | Tile | { readonly copy: Tile } | { readonly csv: string } | undefined;

function DashboardEditor({ dashboard, configuration, list }: DashboardEditorProps) {
  const words = useWords(dashboardsWords);
  const { id, workspaceId } = dashboard;
  const [open, setOpen] = useState<Open>();
  const { undo, ...editor } = useUndo(useDashboardEdit(dashboard, configuration));
  const { name, description, configuration: shown } = editor.value;
  const { search, change, zone, ownZone } = useShown(shown, workspaceId);
  const variables = useVariables(id, workspaceId, shown, search);
  const isNarrow = useNarrow();
  const isEditing = search.edit === true && !isNarrow;
  const setTiles = (tiles: Tile[]) =>
    editor.change({ ...editor.value, configuration: { ...shown, tiles } });
  const menu = useWords(menuWords);
  const titleOf = useTitleOf();
  const arrange = () => {
    if (!isEditing && !isNarrow) change({ ...search, edit: true });
  };
  const act = (what: TileAct, tileId: string) => {
    // A copy of a tile that repeats has its id and a value.
    const tile = shown.tiles.find((one) => one.id === tileId || tileId.startsWith(`${one.id}:`));
    if (tile === undefined) return;
    if (what === 'copy') return setOpen({ copy: tile });
    if (what === 'download') return setOpen({ csv: tile.id });
    arrange();
    if (what === 'edit') return setOpen(tile);
    const title = tile.title ? menu.copyOf(tile.title) : undefined;
    setTiles([...shown.tiles, duplicated(shown.tiles, tile, title)]);
    toast(menu.duplicated(titleOf(tile)), () => setTiles([...shown.tiles]));
  };
  const parts = { configuration: shown, search, zone, ownZone, change };
  // The slider covers the usual range, whatever is zoomed to.
  const usual = intervalShown(search.range === undefined ? {} : { range: search.range }, shown, 0);
  const spanMs = usual.toMs - usual.fromMs;
  return (
    <Page
      title={name}
      name={name}
      path={[list, name]}
      isWide={search.kiosk === true}
      lead={<RangeSentence {...parts} />}
      actions={
        search.kiosk === true ? null : (
          <>
            <RangeBar {...parts} />
            <Actions
              dashboard={dashboard}
              configuration={configuration}
              isEditing={isEditing}
              isPast={search.at !== undefined}
              change={(part) => change({ ...search, ...part })}
              open={(what) => setOpen(what === 'tile' ? newTile(shown.tiles) : what)}
              leave={() => change(withoutEdit(search))}
            />
          </>
        )
      }
    >
      {isEditing && <ReadOnlyNote workspaceId={workspaceId} scope="dashboard" verb="update" />}
      {description !== null && description !== '' && <p className="mute">{description}</p>}
      {search.at !== undefined && (
        <TimeMachine
          at={search.at}
          spanMs={spanMs}
          zone={zone}
          note={words.timeMachineNote}
          show={(at) => change(withMoment(search, at))}
        />
      )}
      {search.kiosk !== true && (
        <VariableBar
          workspaceId={workspaceId}
          shown={variables}
          choose={(variable, values) => change(withChoice(search, id, variable, values))}
        />
      )}
      <DashboardFrame
        workspaceId={workspaceId}
        dashboardId={id}
        configuration={shown}
        variables={variables}
        isEditing={isEditing}
        search={search}
        zone={zone}
        act={act}
        show={({ from, to }) => change(zoomed(search, from, to))}
      >
        {shown.tiles.length === 0 ? (
          <NoTiles add={() => setOpen(newTile([]))} />
        ) : isEditing ? (
          <TileEditor tiles={shown.tiles} change={setTiles} settings={setOpen} />
        ) : (
          <TileGrid />
        )}
      </DashboardFrame>
      {editor.isChanged && (
        <div className={styles['editBar']}>
          <UnsavedBar
            needs="dashboard: update"
            editor={editor}
            within={`/w/${workspaceId}/dashboards/${id}`}
          >
            <UndoButton undo={undo} />
          </UnsavedBar>
        </div>
      )}
      {search.kiosk === true && <Kiosk leave={() => change(withoutKiosk(search))} />}
      {open === 'share' && (
        <ShareDialog dashboard={dashboard} variables={variables} close={() => setOpen(undefined)} />
      )}
      {open === 'reports' && (
        <ReportsDialog
          dashboard={dashboard}
          variables={variables}
          zone={zone}
          close={() => setOpen(undefined)}
        />
      )}
      {(open === 'download' || hasCsv(open)) && (
        <DownloadDialog
          dashboard={dashboard}
          configuration={shown}
          search={search}
          values={variables.values}
          zone={zone}
          tileId={hasCsv(open) ? open.csv : undefined}
          close={() => setOpen(undefined)}
        />
      )}
      {typeof open === 'object' && 'copy' in open && (
        <CopyTileDialog
          workspaceId={workspaceId}
          dashboardId={id}
          configuration={shown}
          tile={open.copy}
          remove={() => {
            setTiles(without(shown.tiles, open.copy.id));
            arrange();
          }}
          close={() => setOpen(undefined)}
        />
      )}
      {open === 'copy' && (
        <CopyDashboardDialog
          dashboard={dashboard}
          configuration={configuration}
          close={() => setOpen(undefined)}
        />
      )}
      {open === 'versions' && (
        <VersionsDialog dashboard={dashboard} zone={zone} close={() => setOpen(undefined)} />
      )}
      {open === 'json' && (
        <JsonDialog
          name={name}
          configuration={shown}
          replace={(configuration) => editor.change({ ...editor.value, configuration })}
          close={() => setOpen(undefined)}
        />
      )}
      {open === 'settings' && (
        <DashboardSettings
          edit={editor.value}
          change={editor.change}
          zone={ownZone}
          variables={variables}
          workspaceId={workspaceId}
          close={() => setOpen(undefined)}
        />
      )}
      {typeof open === 'object' && 'kind' in open && (
        <TileForm
          workspaceId={workspaceId}
          variables={variables}
          tile={open}
          isNew={!shown.tiles.some((tile) => tile.id === open.id)}
          save={(tile) => {
            setTiles(withTile(shown.tiles, tile));
            if (!isEditing) change({ ...search, edit: true });
          }}
          close={() => setOpen(undefined)}
        />
      )}
    </Page>
  );
}

function hasCsv(open: Open): open is { readonly csv: string } {
  return typeof open === 'object' && 'csv' in open;
}

function useShown(configuration: Configuration, workspaceId: string) {
  const search = useSearch({ from: '/signed-in/shell/w/$workspaceId/dashboards/$dashboardId' });
  const navigate = useNavigate({ from: '/w/$workspaceId/dashboards/$dashboardId' });
  const workspaces = useWorkspaces();
  const workspace = workspaces.data?.content.find(({ id }) => id === workspaceId);
  const workspaceZone = workspace?.settings?.timezone ?? undefined;
  return {
    search,
    zone: zoneShown(search, configuration, workspaceZone),
    ownZone: zoneShown({}, configuration, workspaceZone),
    change: (next: DashboardSearch) => void navigate({ search: next, resetScroll: false }),
  };
}

interface ActionsProps {
  readonly dashboard: Dashboard;
  /** That is saved. */
  readonly configuration: Configuration;
  readonly isEditing: boolean;
  /** Whether the time machine is on already. */
  readonly isPast: boolean;
  readonly change: (part: Partial<DashboardSearch>) => void;
  readonly open: (what: Named | 'tile') => void;
  readonly leave: () => void;
}

/** The actions that are seldom needed: in a menu, or on a phone among those that the page folds. */
function MoreActions({ dashboard, configuration, change, open }: ActionsProps) {
  const words = useWords(dashboardsWords);
  const menu = useWords(menuWords);
  const isNarrow = useNarrow();
  const hasOthers = (useWorkspaces().data?.content.length ?? 0) > 1;
  const navigate = useNavigate();
  const duplicate = useAction({
    mutationFn: () => {
      const { workspaceId, name, description, groupId } = dashboard;
      return createDashboard({
        workspaceId,
        name: words.copyOf(name),
        description,
        groupId,
        configuration,
      });
    },
    onSuccess: ({ id: dashboardId, workspaceId, name }) => {
      void refreshLists();
      toast(words.copied(name));
      void navigate({
        to: '/w/$workspaceId/dashboards/$dashboardId',
        params: { workspaceId, dashboardId },
      });
    },
    onError: toastFailure,
  });
  const items: readonly MenuItem[] = [
    { label: words.reports, icon: Mail, run: () => open('reports') },
    {
      label: words.download,
      icon: Download,
      needs: 'asset: read',
      run: () => open('download'),
    },
    // The menu is closed by then.
    { label: menu.print, icon: Printer, run: () => void setTimeout(() => print()) },
    { label: words.kiosk, icon: Expand, run: () => change({ kiosk: true }) },
    { label: menu.versions, icon: History, run: () => open('versions') },
    { label: menu.json, icon: Braces, run: () => open('json') },
    {
      label: menu.duplicate,
      icon: Copy,
      needs: 'dashboard: create',
      run: () => duplicate.mutate(),
    },
    ...(hasOthers
      ? [{ label: menu.copyElsewhere, icon: ArrowRightFromLine, run: () => open('copy') }]
      : []),
  ];
  if (!isNarrow) return <Menu label={menu.more} icon={Ellipsis} isNamed items={items} />;
  return items.map(({ label, icon: Icon, needs, run }) => (
    <Button key={label} needs={needs} onClick={run}>
      <Icon aria-hidden="true" />
      {label}
    </Button>
  ));
}

function Actions(props: ActionsProps) {
  const { dashboard, isEditing, isPast, change, open, leave } = props;
  const words = useWords(dashboardsWords);
  const isNarrow = useNarrow();
  return (
    <>
      {isEditing ? (
        <>
          <Button needs="dashboard: update" onClick={() => open('tile')}>
            <Plus aria-hidden="true" />
            {words.addTile}
          </Button>
          <Button needs="dashboard: update" onClick={() => open('settings')}>
            <SlidersHorizontal aria-hidden="true" />
            {words.dashboardSettings}
          </Button>
        </>
      ) : (
        <>
          <CurlButton request={{ path: `/v3/dashboards/${dashboard.id}` }} />
          <Button
            needs="dashboard: update"
            data-brief
            title={words.share}
            onClick={() => open('share')}
          >
            <Share2 aria-hidden="true" />
            <span>{words.share}</span>
          </Button>
          {!isPast && <TimeMachineButton show={(at) => change({ at })} />}
        </>
      )}
      <MoreActions {...props} />
      {!isNarrow && (
        <Button
          needs="dashboard: update"
          look={isEditing ? 'primary' : 'plain'}
          onClick={() => (isEditing ? leave() : change({ edit: true }))}
        >
          {!isEditing && <Pencil aria-hidden="true" />}
          {isEditing ? words.done : words.edit}
        </Button>
      )}
    </>
  );
}

function NoTiles({ add }: { readonly add: () => void }) {
  const words = useWords(dashboardsWords);
  return (
    <Sheet>
      <Empty
        title={words.noTiles}
        note={words.noTilesNote}
        actions={
          <Button needs="dashboard: update" look="primary" onClick={add}>
            <Plus aria-hidden="true" />
            {words.addTile}
          </Button>
        }
      />
    </Sheet>
  );
}

function newTile(tiles: readonly Tile[]): Tile {
  const [width, height] = kinds.value.size;
  return { id: freeId(tiles), kind: 'value', ...freePlace(tiles, [width, height]), series: [] };
}

/** A changed tile keeps its place; one of another kind has been given another size. */
function withTile(tiles: readonly Tile[], tile: Tile): Tile[] {
  const isKnown = tiles.some(({ id }) => id === tile.id);
  if (isKnown) return arranged(tiles.map((one) => (one.id === tile.id ? tile : one)));
  return [...tiles, { ...tile, ...freePlace(tiles, [tile.width, tile.height]) }];
}

function zoomed({ from: _, to: __, ...kept }: DashboardSearch, from?: string, to?: string) {
  return from === undefined || to === undefined ? kept : { ...kept, from, to };
}

function withoutEdit({ edit: _, ...kept }: DashboardSearch): DashboardSearch {
  return kept;
}

function withoutKiosk({ kiosk: _, ...kept }: DashboardSearch): DashboardSearch {
  return kept;
}

// Kiosk: the tiles without the bars of the console, on a screen that stays on.

function Kiosk({ leave }: { readonly leave: () => void }) {
  const words = useWords(dashboardsWords);
  useHiddenBars();
  useScreenOn();
  const latest = useRef(leave);
  useEffect(() => {
    latest.current = leave;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      // Elsewhere this key leads back to the page before.
      event.stopPropagation();
      latest.current();
    };
    addEventListener('keydown', onKey, true);
    return () => removeEventListener('keydown', onKey, true);
  }, []);
  return (
    <div className={styles['kioskOut']}>
      <Button onClick={leave}>
        <Shrink aria-hidden="true" />
        {words.leaveKiosk}
      </Button>
    </div>
  );
}

function useHiddenBars(): void {
  useEffect(() => {
    document.documentElement.dataset['kiosk'] = 'true';
    return () => {
      delete document.documentElement.dataset['kiosk'];
    };
  }, []);
}

/** The browser gives the lock back whenever the page is hidden, and offers none without https. */
function useScreenOn(): void {
  useEffect(() => {
    let lock: WakeLockSentinel | undefined;
    let isOver = false;
    const request = async () => {
      if (document.visibilityState !== 'visible' || !('wakeLock' in navigator)) return;
      // Refused on a low battery: the screen then goes dark as it usually does.
      const granted = await navigator.wakeLock.request('screen').catch(() => undefined);
      if (isOver) void granted?.release();
      else lock = granted;
    };
    const again = () => void request();
    again();
    document.addEventListener('visibilitychange', again);
    return () => {
      isOver = true;
      document.removeEventListener('visibilitychange', again);
      void lock?.release();
    };
  }, []);
}
