// Series fields: the values of a tile, each with its device or tag and a data key.
import { useQuery } from '@tanstack/react-query';
import { SelectField, TextField } from '../../../parts/field.tsx';
import { useWords } from '../../../words/language.tsx';
import { accumulatorNames } from '../../device/explore/explore-search.ts';
import {
  hasOneSeries,
  isDrawn,
  isOfTag,
  type TileKind,
  type TileSeries,
  topicOf,
} from '../dashboard-model.ts';
import { FieldRows } from './field-rows.tsx';
import { formWords } from './form-words.ts';
import { nameOf, seriesKeys } from './series-keys.ts';
import { SourceFields } from './source-fields.tsx';

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
  return (
    <FieldRows
      legend={words.values}
      rows={series}
      least={1}
      most={hasOneSeries(kind) ? 1 : seriesMax}
      addLabel={isMap ? words.addDevice : words.addValue}
      newRow={() => nextOf(isMap ? undefined : series.at(-1))}
      rowLabel={words.valueNumber}
      removeLabel={words.removeValue}
      change={change}
    >
      {(one, put) => (
        <>
          <SourceFields workspaceId={workspaceId} kind={kind} series={one} change={put} />
          {!isMap && <KeyFields kind={kind} series={one} change={put} />}
          <TextField
            label={isOfTag(one) ? words.tagLabel : words.label}
            maxLength={200}
            value={one.label ?? ''}
            onChange={({ target }) => put({ ...one, label: target.value })}
          />
        </>
      )}
    </FieldRows>
  );
}

/** The next value is mostly another key of the same device, or the same key of another. */
function nextOf(last: TileSeries | undefined): TileSeries {
  if (last?.deviceId === undefined) return blankSeries;
  return { deviceId: last.deviceId, dataKey: '', label: last.label ?? null };
}

interface KeyFieldsProps {
  readonly kind: TileKind;
  readonly series: TileSeries;
  readonly change: (series: TileSeries) => void;
}

function KeyFields({ kind, series, change }: KeyFieldsProps) {
  const words = useWords(formWords);
  const answer = useQuery(seriesKeys(series));
  const keys = (answer.data ?? []).filter(({ isNumber }) => isNumber || !isDrawn(kind));
  const { dataKey } = series;
  const chosen = dataKey === '' ? '' : nameOf({ topic: topicOf(series), key: dataKey });
  const isKnown = keys.some((one) => nameOf(one) === chosen);
  const hasTopics = new Set(keys.map(({ topic }) => topic)).size > 1;
  return (
    <>
      <SelectField
        label={words.key}
        required
        disabled={!series.deviceId && !series.tagId}
        hint={answer.isSuccess && keys.length === 0 ? words.noKeys : undefined}
        error={answer.error?.message}
        value={chosen}
        onChange={({ target }) => {
          const found = keys.find((one) => nameOf(one) === target.value);
          if (found === undefined) return;
          const { topic, key, unit } = found;
          change({ ...series, topic, dataKey: key, unit: unit === '' ? null : unit });
        }}
      >
        <option value="" disabled>
          {words.chooseKey}
        </option>
        {!isKnown && chosen !== '' && <option value={chosen}>{dataKey}</option>}
        {keys.map((one) => (
          <option key={nameOf(one)} value={nameOf(one)}>
            {hasTopics ? `${one.topic} · ` : ''}
            {one.title}
            {one.unit === '' ? '' : ` (${one.unit})`}
          </option>
        ))}
      </SelectField>
      {isDrawn(kind) && (
        <SelectField
          label={words.accumulator}
          value={series.accumulator ?? 'AVG'}
          onChange={({ target }) => {
            const accumulator = accumulatorNames.find((name) => name === target.value) ?? null;
            change({ ...series, accumulator });
          }}
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
