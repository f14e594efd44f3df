// Series fields: the values of a tile, each of a device and one of its data keys.
import { useQuery } from '@tanstack/react-query';
import { useDevicesById } from '../../../api/devices-by-id.ts';
import { DevicePick } from '../../../parts/device-pick.tsx';
import { SelectField, TextField } from '../../../parts/field.tsx';
import { useWords } from '../../../words/language.tsx';
import { dataKeysOf, topicsOf } from '../../device/data/data-keys.ts';
import { schemaQuery } from '../../device/data/device-queries.ts';
import { accumulatorNames } from '../../device/explore/explore-search.ts';
import { hasOneSeries, type TileKind, type TileSeries, topicOf } from '../dashboard-model.ts';
import { FieldRows } from './field-rows.tsx';
import { formWords } from './form-words.ts';
import styles from './form.module.css';

const seriesMax = 50;
export const blankSeries: TileSeries = { dataKey: '' };

interface SeriesFieldsProps {
  readonly workspaceId: string;
  readonly kind: TileKind;
  readonly series: readonly TileSeries[];
  readonly change: (series: readonly TileSeries[]) => void;
}

export function SeriesFields({ workspaceId, kind, series, change }: SeriesFieldsProps) {
  const words = useWords(formWords);
  const isMap = kind === 'map';
  const last = series.at(-1);
  // The next value is mostly another key of the same device, or the same key of another.
  const next: TileSeries =
    isMap || last?.deviceId === undefined
      ? blankSeries
      : { deviceId: last.deviceId, dataKey: '', label: last.label ?? null };
  return (
    <FieldRows
      legend={words.values}
      rows={series}
      least={1}
      most={hasOneSeries(kind) ? 1 : seriesMax}
      addLabel={isMap ? words.addDevice : words.addValue}
      newRow={() => next}
      rowLabel={words.valueNumber}
      removeLabel={words.removeValue}
      change={change}
    >
      {(one, put) => (
        <SeriesInputs workspaceId={workspaceId} kind={kind} series={one} change={put} />
      )}
    </FieldRows>
  );
}

interface SeriesInputsProps {
  readonly workspaceId: string;
  readonly kind: TileKind;
  readonly series: TileSeries;
  readonly change: (series: TileSeries) => void;
}

function SeriesInputs({ workspaceId, kind, series, change }: SeriesInputsProps) {
  const words = useWords(formWords);
  const { deviceId, tagId } = series;
  const devices = useDevicesById(workspaceId, [deviceId ?? null]);
  const name = devices.get(deviceId ?? '')?.name;
  const isTag = tagId !== null && tagId !== undefined;
  return (
    <>
      {isTag ? (
        <p className={styles['tag']}>{words.ofTag}</p>
      ) : (
        <div className={styles['device']}>
          <DevicePick
            workspaceId={workspaceId}
            label={words.device}
            chosen={name ?? deviceId ?? ''}
            choose={(device) =>
              change(
                kind === 'map'
                  ? { deviceId: device.id, dataKey: 'latitude', label: device.name }
                  : {
                      ...series,
                      deviceId: device.id,
                      label: labelAfter(series, name, device.name),
                    },
              )
            }
          />
        </div>
      )}
      {kind !== 'map' && (
        <KeyFields deviceId={deviceId ?? undefined} kind={kind} series={series} change={change} />
      )}
      <TextField
        label={words.label}
        maxLength={200}
        value={series.label ?? ''}
        onChange={({ target }) => change({ ...series, label: target.value })}
      />
    </>
  );
}

/** A name that a person typed stays; that of the device before does not. */
function labelAfter({ label }: TileSeries, before: string | undefined, name: string): string {
  return label === null || label === undefined || label === '' || label === before ? name : label;
}

interface KeyFieldsProps {
  readonly deviceId: string | undefined;
  readonly kind: TileKind;
  readonly series: TileSeries;
  readonly change: (series: TileSeries) => void;
}

function KeyFields({ deviceId, kind, series, change }: KeyFieldsProps) {
  const words = useWords(formWords);
  const schemas = useQuery({ ...schemaQuery(deviceId ?? ''), enabled: deviceId !== undefined });
  const known = schemas.data ?? {};
  const isDrawn = kind === 'line' || kind === 'bar';
  const keys = topicsOf(known)
    .flatMap((topic) => dataKeysOf(known, topic))
    .filter(({ isNumber }) => isNumber || !isDrawn);
  const nameOf = (topic: string, key: string) => JSON.stringify([topic, key]);
  const chosen = series.dataKey === '' ? '' : nameOf(topicOf(series), series.dataKey);
  const isKnown = keys.some(({ topic, key }) => nameOf(topic, key) === chosen);
  const hasTopics = new Set(keys.map(({ topic }) => topic)).size > 1;
  return (
    <>
      <SelectField
        label={words.key}
        required
        disabled={deviceId === undefined}
        hint={schemas.isSuccess && keys.length === 0 ? words.noKeys : undefined}
        value={chosen}
        onChange={({ target }) => {
          const found = keys.find(({ topic, key }) => nameOf(topic, key) === target.value);
          if (found === undefined) return;
          const { topic, key, unit } = found;
          change({ ...series, topic, dataKey: key, unit: unit === '' ? null : unit });
        }}
      >
        <option value="" disabled>
          {words.chooseKey}
        </option>
        {!isKnown && chosen !== '' && <option value={chosen}>{series.dataKey}</option>}
        {keys.map(({ topic, key, title, unit }) => (
          <option key={nameOf(topic, key)} value={nameOf(topic, key)}>
            {hasTopics ? `${topic} · ` : ''}
            {title}
            {unit === '' ? '' : ` (${unit})`}
          </option>
        ))}
      </SelectField>
      {isDrawn && (
        <SelectField
          label={words.accumulator}
          value={series.accumulator ?? 'AVG'}
          onChange={({ target }) => change({ ...series, accumulator: target.value })}
        >
          {accumulatorNames.map((name) => (
            <option key={name} value={name}>
              {words.accumulators[name]}
            </option>
          ))}
        </SelectField>
      )}
    </>
  );
}
