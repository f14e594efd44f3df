// Kind fields: what only one kind of tile has, in the form of a tile.
import { useQuery } from '@tanstack/react-query';
import type { Tile } from '../../../../../src/dashboards/configuration.ts';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { useWords } from '../../../words/language.tsx';
import { dashboardsOf } from '../dashboard-requests.ts';
import type { ShownVariables } from '../variable-values.ts';
import { FieldRows } from './field-rows.tsx';
import { formWords } from './form-words.ts';

interface KindFieldsProps {
  readonly workspaceId: string;
  readonly variables: ShownVariables;
  readonly tile: Tile;
  readonly change: (tile: Tile) => void;
}

export function KindFields(props: KindFieldsProps) {
  const { kind } = props.tile;
  if (kind === 'gauge') return <EndFields {...props} />;
  if (kind === 'links') return <LinkFields {...props} />;
  if (kind === 'devices')
    return (
      <>
        <DevicesField {...props} />
        <ColumnFields {...props} />
      </>
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
