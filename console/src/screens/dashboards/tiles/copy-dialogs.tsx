// Copy dialogs: a tile in another dashboard of this or another workspace, or a whole dashboard in another workspace.
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { answers } from '../../../api/answers.ts';
import { ask, platform } from '../../../api/platform.ts';
import { useMay } from '../../../session/permissions.ts';
import { useWorkspaces } from '../../../session/session.ts';
import { FormDialog } from '../../../ui/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../../ui/field.tsx';
import { Answered, Bone } from '../../../ui/states.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { useAction } from '../../../ui/use-action.ts';
import { useSettledValue } from '../../../ui/use-settled-value.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import {
  type Configuration,
  readConfiguration,
  type Tile,
} from '../../../../../src/dashboards/configuration.ts';
import {
  changeDashboard,
  createDashboard,
  type Dashboard,
  dashboardsOf,
  refreshLists,
} from '../dashboard-requests.ts';
import { variablesOfTile, withCopy } from './copied-tile.ts';
import styles from './copy-dialogs.module.css';
import { menuWords } from './menu-words.ts';
import {
  movedDashboard,
  movedTile,
  type RecordKind,
  recordsOf,
  recordsOfDashboard,
} from './moved-tile.ts';
import { type RecordElsewhere, recordsElsewhere } from './records-elsewhere.ts';
import { useTitleOf } from './tile-data.ts';

interface CopyTileDialogProps {
  readonly workspaceId: string;
  readonly dashboardId: string;
  /** That the tile is in. */
  readonly configuration: Configuration;
  readonly tile: Tile;
  readonly remove: () => void;
  readonly close: () => void;
}

/** The tile is gone from this dashboard if it is to move. */
export function CopyTileDialog(props: CopyTileDialogProps) {
  const { workspaceId, dashboardId, configuration, tile, remove, close } = props;
  const words = useWords(menuWords);
  const title = useTitleOf()(tile);
  const [chosenWorkspace, setWorkspace] = useState(workspaceId);
  const workspaces = useWorkspaces().data?.content ?? [];
  const isElsewhere = chosenWorkspace !== workspaceId;
  const [typed, setTyped] = useState('');
  const q = useSettledValue(typed.trim());
  const answer = useQuery(dashboardsOf(chosenWorkspace, q === '' ? {} : { q }));
  const offered = (answer.data?.content ?? []).filter(({ id }) => id !== dashboardId);
  const [chosen, setChosen] = useState<string>();
  const [isMoved, setMoved] = useState(false);
  const target = offered.find(({ id }) => id === chosen) ?? offered[0];
  const declared = variablesOfTile(tile, configuration.variables ?? []);
  const records = isElsewhere ? recordsOf(tile, declared) : [];
  const found = useQuery(recordsElsewhere(workspaceId, chosenWorkspace, records));
  const moved = isElsewhere
    ? movedTile(tile, declared, idsThere(found.data ?? []))
    : { tile, variables: declared };
  const isMatched = records.length === 0 || found.isSuccess;
  const copy = useAction({
    mutationFn: async ({ id, sent }: { readonly id: string; readonly sent: Tile }) => {
      const params = { path: { id } };
      const { configuration: stored, version } = await ask(
        platform.GET('/v3/dashboards/{id}', { params }),
      );
      const read = readConfiguration(stored);
      if (read === undefined) throw new Error(words.foreign);
      const copied = withCopy(read, sent, moved.variables);
      if ('other' in copied) throw new Error(words.otherVariable(copied.other));
      return changeDashboard(id, { configuration: copied, version });
    },
    onSuccess: async ({ id, name }) => {
      if (isMoved) remove();
      const workspace = workspaces.find((one) => one.id === chosenWorkspace)?.name;
      const place = isElsewhere && workspace !== undefined ? `${name} (${workspace})` : name;
      toast((isMoved ? words.moved : words.copied)(title, place));
      close();
      await answers.invalidateQueries({ queryKey: ['dashboard', 'session', id] });
    },
  });
  const { tile: sent, variables } = moved;
  return (
    <FormDialog
      title={words.copyTitle(title)}
      submitLabel={words.copy}
      isBusy={copy.isPending}
      isIncomplete={target === undefined || !isMatched || sent === undefined}
      error={copy.error}
      submit={() =>
        target !== undefined && sent !== undefined && copy.mutate({ id: target.id, sent })
      }
      close={close}
    >
      {workspaces.length > 1 && (
        <SelectField
          label={words.workspace}
          value={chosenWorkspace}
          onChange={(event) => setWorkspace(event.target.value)}
        >
          {workspaces.map(({ id, name }) => (
            <WorkspaceOption key={id} id={id} name={name} verb="update" />
          ))}
        </SelectField>
      )}
      <Answered answer={answer} skeleton={<Bone width="100%" />}>
        {({ totalElements, content }) => (
          <>
            {(q !== '' || totalElements > content.length) && (
              <TextField
                label={words.search}
                type="search"
                value={typed}
                onChange={(event) => setTyped(event.target.value)}
              />
            )}
            {offered.length === 0 ? (
              <p className="mute">
                {q !== '' ? words.noMatch : isElsewhere ? words.noDashboard : words.noOther}
              </p>
            ) : (
              <SelectField
                label={words.target}
                value={target?.id ?? ''}
                onChange={(event) => setChosen(event.target.value)}
              >
                {offered.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </SelectField>
            )}
          </>
        )}
      </Answered>
      {records.length > 0 && (
        <Answered answer={found} skeleton={<Bone width="70%" />}>
          {(all) => (
            <RecordsThere
              records={all}
              missing={sent === undefined ? words.missingAll : words.missing}
            />
          )}
        </Answered>
      )}
      {variables.length > 0 && (
        <p className="mute">{words.variables(variables.map(({ name }) => name).join(', '))}</p>
      )}
      <CheckField label={words.move} hint={words.moveHint} isOn={isMoved} change={setMoved} />
    </FormDialog>
  );
}

interface CopyDashboardDialogProps {
  readonly dashboard: Dashboard;
  /** That is saved. */
  readonly configuration: Configuration;
  readonly close: () => void;
}

/** The copy has the same name, and opens. */
export function CopyDashboardDialog({ dashboard, configuration, close }: CopyDashboardDialogProps) {
  const { workspaceId, name, description } = dashboard;
  const words = useWords(menuWords);
  const titleOf = useTitleOf();
  const navigate = useNavigate();
  const others = (useWorkspaces().data?.content ?? []).filter(({ id }) => id !== workspaceId);
  const [chosen, setChosen] = useState('');
  const there = others.find(({ id }) => id === chosen);
  const records = useMemo(() => recordsOfDashboard(configuration), [configuration]);
  const found = useQuery({
    ...recordsElsewhere(workspaceId, chosen, records),
    enabled: there !== undefined && records.length > 0,
  });
  const isMatched = records.length === 0 || found.isSuccess;
  const moved = movedDashboard(configuration, idsThere(found.data ?? []));
  const copy = useAction({
    mutationFn: (target: string) =>
      createDashboard({
        workspaceId: target,
        name,
        description,
        configuration: moved.configuration,
      }),
    onSuccess: (created) => {
      void refreshLists();
      toast(words.copied(name, there?.name ?? created.workspaceId));
      close();
      void navigate({
        to: '/w/$workspaceId/dashboards/$dashboardId',
        params: { workspaceId: created.workspaceId, dashboardId: created.id },
      });
    },
  });
  return (
    <FormDialog
      title={words.copyTitle(name)}
      submitLabel={words.copy}
      isBusy={copy.isPending}
      isIncomplete={there === undefined || !isMatched}
      error={copy.error}
      submit={() => there && copy.mutate(there.id)}
      close={close}
    >
      <SelectField
        label={words.workspace}
        value={chosen}
        onChange={(event) => setChosen(event.target.value)}
      >
        <option value="" disabled>
          {words.choose}
        </option>
        {others.map(({ id, name: label }) => (
          <WorkspaceOption key={id} id={id} name={label} verb="create" />
        ))}
      </SelectField>
      {there !== undefined && records.length > 0 && (
        <Answered answer={found} skeleton={<Bone width="70%" />}>
          {(all) => (
            <>
              <RecordsThere records={all} missing={words.missingOfDashboard} />
              {moved.left.length > 0 && <p>{words.leftOut(moved.left.map(titleOf).join(', '))}</p>}
            </>
          )}
        </Answered>
      )}
    </FormDialog>
  );
}

function idsThere(records: readonly RecordElsewhere[]) {
  const ids = new Map(records.map(({ kind, id, idThere }) => [`${kind} ${id}`, idThere]));
  return (kind: RecordKind, id: string) => ids.get(`${kind} ${id}`);
}

interface WorkspaceOptionProps {
  readonly id: string;
  readonly name: string;
  /** What copying there does with dashboards. */
  readonly verb: 'create' | 'update';
}

/** Copying there looks for devices too. */
function WorkspaceOption({ id, name, verb }: WorkspaceOptionProps) {
  const words = useWords(menuWords);
  const mayChange = useMay(id, 'dashboard', verb);
  const mayFind = useMay(id, 'asset', 'read');
  const lacks = mayChange ? 'asset: read' : `dashboard: ${verb}`;
  return (
    <option value={id} disabled={!mayChange || !mayFind}>
      {mayChange && mayFind ? name : words.lacks(name, lacks)}
    </option>
  );
}

interface RecordsThereProps {
  readonly records: readonly RecordElsewhere[];
  /** What becomes of the copy if something is missing. */
  readonly missing: string;
}

/** Says how many records are there by name, and names what the workspace lacks. */
function RecordsThere({ records, missing: note }: RecordsThereProps) {
  const words = useWords(menuWords);
  const formats = useFormats();
  const missing = records.filter(({ idThere }) => idThere === undefined);
  const count = records.length - missing.length;
  return (
    <div role="status">
      {count > 0 && <p className="mute">{words.matched(formats.count(count))}</p>}
      {missing.length > 0 && (
        <>
          <p>{note}</p>
          <ul className={styles['missing']}>
            {missing.map(({ kind, id, name }) => (
              <li key={`${kind} ${id}`}>{words.record[kind](name)}</li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
