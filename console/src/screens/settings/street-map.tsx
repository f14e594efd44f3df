// Street map settings: where the maps of the workspace load tiles from, and what that means.
import { useQuery } from '@tanstack/react-query';
import { faultAt, faultsOf } from '../../api/field-faults.ts';
import { type MapSource, refreshStreetMap, streetMapOf } from '../../map/street-map.ts';
import { Card } from '../../ui/card.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Answered, Bone } from '../../ui/states.tsx';
import { UnsavedBar } from '../../ui/unsaved-bar.tsx';
import { useWords } from '../../words/language.tsx';
import {
  SettingsFrame,
  useWorkspaceEditor,
  WithWorkspace,
  type Workspace,
} from './settings-frame.tsx';
import styles from './settings.module.css';
import { streetMapWords } from './settings-words.ts';

const sources = ['INSTALLATION', 'OPEN_STREET_MAP', 'URL', 'FILE', 'NONE'] as const;

export function StreetMap() {
  return (
    <SettingsFrame tab="map" curl={(id) => ({ path: `/v3/workspaces/${id}/map` })}>
      <WithWorkspace>
        {(workspace) => <StreetMapOf key={workspace.id} workspace={workspace} />}
      </WithWorkspace>
    </SettingsFrame>
  );
}

interface Draft {
  readonly source: MapSource;
  readonly url: string;
  readonly attribution: string;
}

function StreetMapOf({ workspace }: { readonly workspace: Workspace }) {
  const words = useWords(streetMapWords);
  const { source, url, attribution } = workspace.settings.map;
  const editor = useWorkspaceEditor<Draft>({
    workspace,
    part: 'map',
    saved: { source, url: url ?? '', attribution: attribution ?? '' },
    updateOf: (draft) => ({ settings: { map: settingOf(draft) } }),
    onSaved: ({ id }) => refreshStreetMap(id),
  });
  const draft = editor.value;
  const faults = faultsOf(editor.error);
  const change = (part: Partial<Draft>) => editor.change({ ...draft, ...part });
  const isUrl = draft.source === 'URL';
  const isIncomplete = isUrl && (draft.url.trim() === '' || draft.attribution.trim() === '');
  return (
    <Card title={words.title} isPadded>
      <div className={`stack fit gap-16 ${styles['form']}`}>
        <p className="mute">{words.lead}</p>
        <SelectField
          label={words.source}
          hint={words.hints[draft.source]}
          error={faultAt(faults, 'settings.map.source')}
          value={draft.source}
          onChange={({ currentTarget: { value } }) =>
            change({ source: sources.find((one) => one === value) ?? 'NONE' })
          }
        >
          {sources.map((one) => (
            <option key={one} value={one}>
              {words.sources[one]}
            </option>
          ))}
        </SelectField>
        {isUrl && (
          <>
            <TextField
              label={words.url}
              hint={words.urlHint}
              placeholder="https://tiles.example.com/{z}/{x}/{y}.png"
              inputMode="url"
              autoComplete="off"
              maxLength={2_000}
              error={faultAt(faults, 'settings.map.url')}
              value={draft.url}
              onChange={({ target }) => change({ url: target.value })}
            />
            <TextField
              label={words.attribution}
              hint={words.attributionHint}
              autoComplete="off"
              maxLength={500}
              error={faultAt(faults, 'settings.map.attribution')}
              value={draft.attribution}
              onChange={({ target }) => change({ attribution: target.value })}
            />
          </>
        )}
        <Now workspaceId={workspace.id} />
        <UnsavedBar needs="workspace: update" editor={editor} isBlocked={isIncomplete} />
      </div>
    </Card>
  );
}

function settingOf({ source, url, attribution }: Draft) {
  return source === 'URL'
    ? { source, url: url.trim(), attribution: attribution.trim() }
    : { source };
}

/** What maps show as it is saved, and which origins the operator allows. */
function Now({ workspaceId }: { readonly workspaceId: string }) {
  const words = useWords(streetMapWords);
  const map = useQuery(streetMapOf(workspaceId));
  return (
    <Answered
      answer={map}
      curl={{ path: `/v3/workspaces/${workspaceId}/map` }}
      skeleton={<Bone width="24em" />}
    >
      {({ kind, tiles, note, origins }) => (
        <>
          <p role="status">{note ?? words.now[kind](tiles ?? '')}</p>
          <p className="mute">
            {origins.length === 0 ? words.noOrigins : words.origins(origins.join(', '))}
          </p>
        </>
      )}
    </Answered>
  );
}
