// Copy dialog: a tile in another dashboard of this or another workspace, and gone from this one if it is to move.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
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
import { changeDashboard, dashboardsOf } from '../dashboard-requests.ts';
import { variablesOfTile, withCopy } from './copied-tile.ts';
import styles from './copy-tile-dialog.module.css';
import { menuWords } from './menu-words.ts';
import { movedTile, type RecordKind, recordsOf } from './moved-tile.ts';
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
  const there = found.data ?? [];
  const idThere = (kind: RecordKind, id: string) =>
    there.find((one) => one.kind === kind && one.id === id)?.idThere;
  const moved = isElsewhere ? movedTile(tile, declared, idThere) : { tile, variables: declared };
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
            <WorkspaceOption key={id} id={id} name={name} />
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
          {(all) => <RecordsThere records={all} isCopied={sent !== undefined} />}
        </Answered>
      )}
      {variables.length > 0 && (
        <p className="mute">{words.variables(variables.map(({ name }) => name).join(', '))}</p>
      )}
      <CheckField label={words.move} hint={words.moveHint} isOn={isMoved} change={setMoved} />
    </FormDialog>
  );
}

/** Copying there changes a dashboard and looks for devices. */
function WorkspaceOption({ id, name }: { readonly id: string; readonly name: string }) {
  const words = useWords(menuWords);
  const mayChange = useMay(id, 'dashboard', 'update');
  const mayFind = useMay(id, 'asset', 'read');
  const lacks = mayChange ? 'asset: read' : 'dashboard: update';
  return (
    <option value={id} disabled={!mayChange || !mayFind}>
      {mayChange && mayFind ? name : words.lacks(name, lacks)}
    </option>
  );
}

interface RecordsThereProps {
  readonly records: readonly RecordElsewhere[];
  /** Whether there is a tile without what is missing. */
  readonly isCopied: boolean;
}

/** Says which records take the place of those of the tile, and names what the workspace lacks. */
function RecordsThere({ records, isCopied }: RecordsThereProps) {
  const words = useWords(menuWords);
  const formats = useFormats();
  const missing = records.filter(({ idThere }) => idThere === undefined);
  const count = records.length - missing.length;
  return (
    <div role="status">
      {count > 0 && <p className="mute">{words.matched(formats.count(count))}</p>}
      {missing.length > 0 && (
        <>
          <p>{isCopied ? words.missing : words.missingAll}</p>
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
