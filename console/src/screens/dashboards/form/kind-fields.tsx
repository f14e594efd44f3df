// Kind fields: what only one kind of tile has, in the form of a tile.
import { useQuery } from '@tanstack/react-query';
import type { Tile } from '../../../../../src/dashboards/configuration.ts';
import { CheckField, SelectField, TextField } from '../../../ui/field.tsx';
import { late } from '../../../ui/late.tsx';
import { useWords } from '../../../words/language.tsx';
import { dashboardsOf } from '../dashboard-requests.ts';
import type { ShownVariables } from '../variable-values.ts';
import { FieldRows } from './field-rows.tsx';
import { formWords } from './form-words.ts';

const ControlFields = late(
  'ControlFields',
  async () => (await import('./control-fields.tsx')).ControlFields,
);
/** Asks for places and devices, which other tiles do not need. */
const PlanFields = late('PlanFields', async () => (await import('./plan-fields.tsx')).PlanFields);

interface KindFieldsProps {
  readonly workspaceId: string;
  readonly variables: ShownVariables;
  readonly tile: Tile;
  readonly change: (tile: Tile) => void;
}

export function KindFields(props: KindFieldsProps) {
  const words = useWords(formWords);
  const { kind } = props.tile;
  if (kind === 'control') return <ControlFields {...props} />;
  if (kind === 'plan') return <PlanFields {...props} />;
  if (kind === 'gauge') return <EndFields {...props} />;
  if (kind === 'links') return <LinkFields {...props} />;
  if (kind === 'devices')
    return (
      <>
        <DevicesField {...props} />
        <ColumnFields {...props} />
      </>
    );
  if (kind === 'map')
    return (
      <CheckField
        label={words.track}
        isOn={props.tile.track === true}
        change={(track) => props.change({ ...props.tile, track })}
      />
    );
  return kind === 'alarms' ? <DevicesField {...props} /> : null;
}

function EndFields({ tile, change }: KindFieldsProps) {
  const words = useWords(formWords);
  const ends = [
    ['min', words.least, 0],
    ['max', words.greatest, 100],
  ] as const;
  return (
    <div className="columns gap-12">
      {ends.map(([member, label, usual]) => (
        <TextField
          key={member}
          label={label}
          type="number"
          step="any"
          required
          defaultValue={tile[member] ?? usual}
          onChange={({ target }) => {
            if (!Number.isNaN(target.valueAsNumber))
              change({ ...tile, [member]: target.valueAsNumber });
          }}
        />
      ))}
    </div>
  );
}

/** Devices of a variable, or of the whole workspace. */
function DevicesField({ variables, tile: { variable, ...tile }, change }: KindFieldsProps) {
  const words = useWords(formWords);
  const offered = variables.variables.filter(({ kind }) => kind !== 'TEXT');
  return (
    <SelectField
      label={words.devices}
      value={variable ?? ''}
      onChange={({ target: { value } }) =>
        change(value === '' ? tile : { ...tile, variable: value })
      }
    >
      <option value="">{words.allDevices}</option>
      {offered.map(({ name, label }) => (
        <option key={name} value={name}>
          {words.variable(label || name)}
        </option>
      ))}
    </SelectField>
  );
}

const columnsMax = 50;
type Column = NonNullable<Tile['columns']>[number];

function ColumnFields({ tile, change }: KindFieldsProps) {
  const words = useWords(formWords);
  return (
    <FieldRows
      legend={words.columns}
      rows={tile.columns ?? []}
      least={1}
      most={columnsMax}
      addLabel={words.addColumn}
      newRow={(): Column => ({ dataKey: '' })}
      rowLabel={words.columnNumber}
      removeLabel={words.removeColumn}
      change={(columns) => change({ ...tile, columns: [...columns] })}
    >
      {(column, put) => (
        <>
          <TextField
            label={words.key}
            required
            maxLength={500}
            value={column.dataKey}
            onChange={({ target }) => put({ ...column, dataKey: target.value })}
          />
          <TextField
            label={words.topic}
            maxLength={200}
            placeholder="default"
            value={column.topic ?? ''}
            onChange={({ target: { value } }) => put({ ...column, topic: value || null })}
          />
          <TextField
            label={words.label}
            maxLength={200}
            value={column.label ?? ''}
            onChange={({ target }) => put({ ...column, label: target.value })}
          />
          <CheckField
            label={words.spark}
            isOn={column.spark === true}
            change={(spark) => put({ ...column, spark })}
          />
        </>
      )}
    </FieldRows>
  );
}

const linksMax = 50;

function LinkFields({ workspaceId, tile, change }: KindFieldsProps) {
  const words = useWords(formWords);
  const dashboards = useQuery(dashboardsOf(workspaceId, {})).data?.content ?? [];
  return (
    <FieldRows
      legend={words.links}
      rows={tile.links ?? []}
      least={1}
      most={linksMax}
      addLabel={words.addLink}
      newRow={() => ({ label: '', url: '' })}
      rowLabel={words.linkNumber}
      removeLabel={words.removeLink}
      change={(links) => change({ ...tile, links: [...links] })}
    >
      {({ label, dashboardId, url }, put) => (
        <>
          <TextField
            label={words.label}
            required
            maxLength={200}
            value={label}
            onChange={({ target }) =>
              put({ label: target.value, ...(dashboardId ? { dashboardId } : { url: url ?? '' }) })
            }
          />
          <SelectField
            label={words.leadsTo}
            value={dashboardId ?? ''}
            onChange={({ target: { value } }) =>
              put(value === '' ? { label, url: '' } : { label, dashboardId: value })
            }
          >
            <option value="">{words.address}</option>
            {dashboardId && !dashboards.some(({ id }) => id === dashboardId) && (
              <option value={dashboardId}>{dashboardId}</option>
            )}
            {dashboards.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </SelectField>
          {!dashboardId && (
            <TextField
              label={words.address}
              type="url"
              required
              pattern="https://.+"
              placeholder="https://"
              maxLength={2000}
              value={url ?? ''}
              onChange={({ target }) => put({ label, url: target.value })}
            />
          )}
        </>
      )}
    </FieldRows>
  );
}

// Title link: the dashboard that the title of a tile leads to.

/** The other dashboard has the values that variables have here. */
export function TitleLinkFields({ workspaceId, variables, tile, change }: KindFieldsProps) {
  const words = useWords(formWords);
  const dashboards = useQuery(dashboardsOf(workspaceId, {})).data?.content ?? [];
  const { link, ...others } = tile;
  const names = variables.variables.map(({ name }) => name);
  const isPassed = Object.keys(link?.variables ?? {}).length > 0;
  const passed = { variables: Object.fromEntries(names.map((name) => [name, `{{${name}}}`])) };
  const choose = (dashboardId: string) =>
    change(
      dashboardId === ''
        ? others
        : { ...others, link: { ...(names.length > 0 && passed), ...link, dashboardId } },
    );
  return (
    <>
      <SelectField
        label={words.titleLink}
        value={link?.dashboardId ?? ''}
        onChange={({ target }) => choose(target.value)}
      >
        <option value="">{words.titleLinkNone}</option>
        {link && !dashboards.some(({ id }) => id === link.dashboardId) && (
          <option value={link.dashboardId}>{link.dashboardId}</option>
        )}
        {dashboards.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      {link && (names.length > 0 || isPassed) && (
        <CheckField
          label={words.passVariables}
          isOn={isPassed}
          change={(isOn) => {
            const { dashboardId } = link;
            change({ ...others, link: { dashboardId, ...(isOn && passed) } });
          }}
        />
      )}
    </>
  );
}
