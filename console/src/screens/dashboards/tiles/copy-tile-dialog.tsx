// Copy dialog: a tile in another dashboard of the workspace, and gone from this one if it is to move.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answers } from '../../../api/answers.ts';
import { ask, platform } from '../../../api/platform.ts';
import { FormDialog } from '../../../ui/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../../ui/field.tsx';
import { Answered, Bone } from '../../../ui/states.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { useAction } from '../../../ui/use-action.ts';
import { useSettledValue } from '../../../ui/use-settled-value.ts';
import { useWords } from '../../../words/language.tsx';
import {
  type Configuration,
  readConfiguration,
  type Tile,
} from '../../../../../src/dashboards/configuration.ts';
import { changeDashboard, dashboardsOf } from '../dashboard-requests.ts';
import { variablesOfTile, withCopy } from './copied-tile.ts';
import { menuWords } from './menu-words.ts';
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
  const [typed, setTyped] = useState('');
  const q = useSettledValue(typed.trim());
  const answer = useQuery(dashboardsOf(workspaceId, q === '' ? {} : { q }));
  const offered = (answer.data?.content ?? []).filter(({ id }) => id !== dashboardId);
  const [chosen, setChosen] = useState<string>();
  const [isMoved, setMoved] = useState(false);
  const target = offered.find(({ id }) => id === chosen) ?? offered[0];
  const variables = variablesOfTile(tile, configuration.variables ?? []);
  const copy = useAction({
    mutationFn: async (id: string) => {
      const params = { path: { id } };
      const { configuration: stored, version } = await ask(
        platform.GET('/v3/dashboards/{id}', { params }),
      );
      const read = readConfiguration(stored);
      if (read === undefined) throw new Error(words.foreign);
      const copied = withCopy(read, tile, variables);
      if ('other' in copied) throw new Error(words.otherVariable(copied.other));
      return changeDashboard(id, { configuration: copied, version });
    },
    onSuccess: async ({ id, name }) => {
      if (isMoved) remove();
      toast((isMoved ? words.moved : words.copied)(title, name));
      close();
      await answers.invalidateQueries({ queryKey: ['dashboard', 'session', id] });
    },
  });
  return (
    <FormDialog
      title={words.copyTitle(title)}
      submitLabel={words.copy}
      isBusy={copy.isPending}
      isIncomplete={target === undefined}
      error={copy.error}
      submit={() => target !== undefined && copy.mutate(target.id)}
      close={close}
    >
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
              <p className="mute">{q === '' ? words.noOther : words.noMatch}</p>
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
      {variables.length > 0 && (
        <p className="mute">{words.variables(variables.map(({ name }) => name).join(', '))}</p>
      )}
      <CheckField label={words.move} hint={words.moveHint} isOn={isMoved} change={setMoved} />
    </FormDialog>
  );
}
