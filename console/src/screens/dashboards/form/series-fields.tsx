// Series fields: the values of a tile, each with its device or tag and a data key.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { answers } from '../../../api/answers.ts';
import { ask, platform } from '../../../api/platform.ts';
import { placesOf, tagsOf, useDevicesById } from '../../../api/workspace-records.ts';
import { DevicePick } from '../../../ui/device-pick.tsx';
import { CheckField, SelectField, TextField } from '../../../ui/field.tsx';
import { formulaError, FormulaField } from '../../../ui/formula-field.tsx';
import { useSettledValue } from '../../../ui/use-settled-value.ts';
import { useWords } from '../../../words/language.tsx';
import { type DataKey, dataKeysOf, topicsOf } from '../../device/data/data-keys.ts';
import { schemaQuery } from '../../device/data/device-queries.ts';
import { isLeveled } from '../../device/explore/expected-band.tsx';
import { accumulatorNames, sensitivities } from '../../device/explore/explore-search.ts';
import { exploreWords } from '../../device/explore/explore-words.ts';
import { hasBars } from '../../../../../src/dashboards/bars.ts';
import {
  expectedOf,
  kinds,
  type TileKind,
  type TileSeries,
  topicOf,
  valueOf,
} from '../../../../../src/dashboards/configuration.ts';
import type { ShownVariables } from '../variable-values.ts';
import { formWords } from './form-words.ts';
import { FieldRows } from './field-rows.tsx';

const seriesMax = 50;
export const blankSeries: TileSeries = { dataKey: '' };

interface SeriesFieldsProps {
  readonly workspaceId: string;
  readonly variables: ShownVariables;
  readonly kind: TileKind;
  readonly series: readonly TileSeries[];
  /** Whether calculations of the tile can read the series by a name. */
  readonly isNamed: (series: TileSeries) => boolean;
  /** Whether the tile has calculations. */
  readonly isCalculating: boolean;
  readonly change: (series: readonly TileSeries[]) => void;
}

export function SeriesFields(props: SeriesFieldsProps) {
  const { workspaceId, variables, kind, series, isNamed, isCalculating, change } = props;
  const isOne = kinds[kind].series === 'ONE';
  const words = useWords(formWords);
  const isMap = kind === 'map';
  return (
    <FieldRows
      legend={words.values}
      rows={series}
      least={1}
      most={isOne && !isCalculating ? 1 : seriesMax}
      addLabel={isMap ? words.addDevice : words.addValue}
      newRow={() => nextOf(isMap ? undefined : series.at(-1))}
      rowLabel={words.valueNumber}
      removeLabel={words.removeValue}
      change={change}
    >
      {(one, put) => (
        <>
          <SourceFields
            workspaceId={workspaceId}
            variables={variables}
            kind={kind}
            series={one}
            change={put}
          />
          {!isMap && <KeyFields variables={variables} kind={kind} series={one} change={put} />}
          {isCombinable(kind, one, variables) && (
            <AcrossField kind={kind} series={one} change={put} />
          )}
          <TextField
            label={(one.tagId || one.placeId) && !one.across ? words.tagLabel : words.label}
            maxLength={200}
            value={one.label ?? ''}
            onChange={({ target }) => put({ ...one, label: target.value })}
          />
          {isNamed(one) && (
            <>
              <TextField
                label={words.ref}
                hint={words.refHint}
                maxLength={40}
                pattern="[A-Za-z_][A-Za-z0-9_]*"
                spellCheck={false}
                value={one.ref ?? ''}
                onChange={({ target }) => put({ ...one, ref: target.value })}
              />
              {!isOne && (
                <CheckField
                  label={words.hidden}
                  isOn={one.hidden === true}
                  change={(hidden) => put({ ...one, hidden })}
                />
              )}
            </>
          )}
        </>
      )}
    </FieldRows>
  );
}

// Combined devices: one series of all devices of a tag or place.

const acrossNames = ['SUM', 'AVG', 'MIN', 'MAX', 'MEDIAN', 'COUNT'] as const;

/** Whether the devices of the source can be combined in the tile. */
function isCombinable(
  kind: TileKind,
  { tagId, placeId, variable }: TileSeries,
  { variables }: ShownVariables,
): boolean {
  if (kinds[kind].isCalculated !== true) return false;
  const declared = variables.find(({ name }) => name === variable)?.kind;
  const isGroup = typeof tagId === 'string' || typeof placeId === 'string';
  return isGroup || declared === 'TAG' || declared === 'PLACE';
}

function AcrossField({ kind, series, change }: Omit<KeyFieldsProps, 'variables'>) {
  const words = useWords(formWords);
  const { across, ...others } = series;
  // A tile of one value shows the first device then, as one from before does.
  const hasNone = kinds[kind].series !== 'ONE' || !across;
  return (
    <SelectField
      label={words.across}
      hint={!across ? undefined : kinds[kind].isDrawn ? words.acrossBuckets : words.acrossLast}
      value={across ?? ''}
      onChange={({ target }) => {
        const chosen = acrossNames.find((one) => one === target.value);
        change(chosen === undefined ? others : { ...withoutExpected(others), across: chosen });
      }}
    >
      {hasNone && <option value="">{words.acrossNone}</option>}
      {acrossNames.map((one) => (
        <option key={one} value={one}>
          {words.acrossNames[one]}
        </option>
      ))}
    </SelectField>
  );
}

/** The series without an expected range, which only a single device has. */
export function withoutExpected({ expected: _, ...series }: TileSeries): TileSeries {
  return series;
}

/** The next value is mostly another key of the same device, or the same key of another. */
function nextOf(last: TileSeries | undefined): TileSeries {
  if (last?.deviceId === undefined) return blankSeries;
  return { deviceId: last.deviceId, dataKey: '', label: last.label ?? null };
}

interface KeyFieldsProps {
  readonly variables: ShownVariables;
  readonly kind: TileKind;
  readonly series: TileSeries;
  readonly change: (series: TileSeries) => void;
}

function KeyFields({ variables, kind, series, change }: KeyFieldsProps) {
  const words = useWords(formWords);
  const { accumulators } = useWords(exploreWords);
  const shown = shownSourceOf(series, variables);
  const answer = useQuery(seriesKeys(shown));
  const keys = (answer.data ?? []).filter(({ isNumber }) => isNumber || !kinds[kind].isDrawn);
  const dataKey = valueOf(series);
  const accumulator = series.accumulator ?? 'AVG';
  const chosen = dataKey === '' ? '' : nameOf({ topic: topicOf(series), key: dataKey });
  const isKnown = keys.some((one) => nameOf(one) === chosen);
  const topics = [...new Set([topicOf(series), ...keys.map(({ topic }) => topic)])];
  const hasTopics = new Set(keys.map(({ topic }) => topic)).size > 1;
  const isFormula = typeof series.expression === 'string';
  return (
    <>
      <SelectField
        label={words.key}
        required
        disabled={shown === undefined}
        hint={answer.isSuccess && keys.length === 0 ? words.noKeys : undefined}
        error={answer.error?.message}
        value={isFormula ? formulaName : chosen}
        onChange={({ target }) => {
          if (target.value === formulaName) {
            const { dataKey: _, unit: __, expected: ___, ...others } = series;
            change({ ...others, expression: '' });
            return;
          }
          const found = keys.find((one) => nameOf(one) === target.value);
          if (found === undefined) return;
          const { topic, key, unit } = found;
          const { expression: _, ...others } = series;
          change({ ...others, topic, dataKey: key, unit: unit === '' ? null : unit });
        }}
      >
        <option value="" disabled>
          {words.chooseKey}
        </option>
        {!isKnown && chosen !== '' && !isFormula && <option value={chosen}>{dataKey}</option>}
        {keys.map((one) => (
          <option key={nameOf(one)} value={nameOf(one)}>
            {hasTopics ? `${one.topic} · ` : ''}
            {one.title}
            {one.unit === '' ? '' : ` (${one.unit})`}
          </option>
        ))}
        {kinds[kind].isCalculated && <option value={formulaName}>{words.typeFormula}</option>}
      </SelectField>
      {isFormula && (
        <SeriesFormula
          topics={topics}
          topic={topicOf(series)}
          expression={series.expression ?? ''}
          change={(typed) => change({ ...series, ...typed })}
        />
      )}
      {kinds[kind].isDrawn && (
        <SelectField
          label={words.accumulator}
          value={accumulator}
          onChange={({ target }) => {
            const chosen = offered.find((name) => name === target.value) ?? null;
            change({ ...withoutOptions(series), accumulator: chosen });
          }}
        >
          {offered
            .filter((name) => kind !== 'bar' || hasBars(name))
            .map((name) => (
              <option key={name} value={name}>
                {name === 'TIME_IN_STATE' ? words.timeInState : accumulators[name]}
              </option>
            ))}
        </SelectField>
      )}
      {kinds[kind].isDrawn && <OptionFields kind={kind} series={series} change={change} />}
      {kinds[kind].isDrawn && <LookFields kind={kind} look={series} change={change} />}
    </>
  );
}

// Look fields: how a chart draws the series, and on which axis.

const seriesStyles = ['LINE', 'STEP', 'BAR', 'POINTS'] as const;
const sides = ['LEFT', 'RIGHT'] as const;

type Look = Pick<TileSeries, 'style' | 'axis'>;

interface LookFieldsProps<T extends Look> {
  readonly kind: TileKind;
  /** The series or calculation. */
  readonly look: T;
  readonly change: (changed: Omit<T, keyof Look> & Look) => void;
}

export function LookFields<T extends Look>({ kind, look, change }: LookFieldsProps<T>) {
  const words = useWords(formWords);
  const usual = kind === 'bar' ? 'BAR' : 'LINE';
  const { style = null, axis = null, ...others } = look;
  const put = (next: Look) =>
    change({
      ...others,
      ...(next.style && next.style !== usual && { style: next.style }),
      ...(next.axis === 'RIGHT' && { axis: next.axis }),
    });
  return (
    <>
      <SelectField
        label={words.style}
        value={style ?? usual}
        onChange={({ target }) =>
          put({ axis, style: seriesStyles.find((one) => one === target.value) ?? usual })
        }
      >
        {seriesStyles.map((one) => (
          <option key={one} value={one}>
            {words.styles[one]}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={words.axis}
        value={axis ?? 'LEFT'}
        onChange={({ target }) =>
          put({ style, axis: sides.find((one) => one === target.value) ?? 'LEFT' })
        }
      >
        {sides.map((one) => (
          <option key={one} value={one}>
            {words.sides[one]}
          </option>
        ))}
      </SelectField>
    </>
  );
}

// Option fields: what some accumulators need to know, and the expected range.

const offered = [...accumulatorNames, 'TIME_IN_STATE'] as const;
const rates: readonly string[] = ['RATE', 'INTEGRAL'];
const gapped: readonly string[] = [
  'INTEGRAL',
  'TIME_WEIGHTED_AVG',
  'DURATION_TRUE',
  'TIME_IN_STATE',
];
const pers = ['PT1S', 'PT1M', 'PT1H', 'P1D'] as const;

/** The options belong to the accumulator that was chosen before. */
function withoutOptions({
  per: _,
  state: __,
  maxGap: ___,
  expected: ____,
  ...series
}: TileSeries): TileSeries {
  return series;
}

function OptionFields({ kind, series, change }: Omit<KeyFieldsProps, 'variables'>) {
  const words = useWords(formWords);
  const { usual, sensitivities: named } = useWords(exploreWords);
  const accumulator = series.accumulator ?? 'AVG';
  const perDefault = accumulator === 'RATE' ? 'PT1S' : 'PT1H';
  const hasRange = isLeveled(accumulator) && series.dataKey !== undefined && !series.across;
  return (
    <>
      {accumulator === 'TIME_IN_STATE' && (
        <TextField
          label={words.state}
          hint={words.stateHint}
          required
          maxLength={200}
          defaultValue={
            series.state === null || series.state === undefined ? '' : String(series.state)
          }
          onChange={({ target }) => change({ ...series, state: stateOf(target.value) })}
        />
      )}
      {rates.includes(accumulator) && (
        <SelectField
          label={words.per}
          value={series.per ?? perDefault}
          onChange={({ target }) => change({ ...series, per: target.value })}
        >
          {pers.map((per) => (
            <option key={per} value={per}>
              {words.pers[per]}
            </option>
          ))}
          {!pers.some((per) => per === (series.per ?? perDefault)) && (
            <option value={series.per ?? ''}>{series.per}</option>
          )}
        </SelectField>
      )}
      {gapped.includes(accumulator) && (
        <TextField
          label={words.maxGap}
          hint={words.maxGapHint}
          maxLength={100}
          value={series.maxGap ?? ''}
          onChange={({ target: { value } }) =>
            change({ ...series, maxGap: value === '' ? null : value })
          }
        />
      )}
      {kind === 'line' && hasRange && (
        <SelectField
          label={usual}
          value={expectedOf(series) ?? 'off'}
          onChange={({ target }) =>
            change({
              ...series,
              expected: sensitivities.find((one) => one === target.value) ?? null,
            })
          }
        >
          <option value="off">{named.off}</option>
          {sensitivities.map((name) => (
            <option key={name} value={name}>
              {named[name]}
            </option>
          ))}
        </SelectField>
      )}
    </>
  );
}

/** What was typed, as data has it: a number, true or false, else a text. */
function stateOf(typed: string): string | number | boolean {
  if (typed === 'true' || typed === 'false') return typed === 'true';
  const number = Number(typed);
  return typed.trim() !== '' && Number.isFinite(number) ? number : typed;
}

/** No name of a key is this text. */
const formulaName = 'formula';

interface SeriesFormulaProps {
  readonly topics: readonly string[];
  readonly topic: string;
  readonly expression: string;
  readonly change: (typed: Pick<TileSeries, 'expression' | 'topic'>) => void;
}

/** A formula is checked when it is typed. */
function SeriesFormula({ topics, topic, expression, change }: SeriesFormulaProps) {
  const words = useWords(formWords);
  const settled = useSettledValue(expression);
  const check = useQuery({
    queryKey: ['formula', settled],
    enabled: settled.trim() !== '',
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => (await formulaError(settled)) ?? null,
  });
  const isShown = settled === expression && expression.trim() !== '';
  return (
    <div className="stack gap-8">
      {topics.length > 1 && (
        <SelectField
          label={words.topic}
          value={topic}
          onChange={({ target }) => change({ expression, topic: target.value })}
        >
          {topics.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </SelectField>
      )}
      <FormulaField
        label={words.formula}
        isRequired
        value={expression}
        change={(typed) => change({ expression: typed, topic })}
        error={isShown ? (check.data ?? undefined) : undefined}
      />
    </div>
  );
}

// Series keys: the data keys of a device, or of the kinds of devices that a tag or place has.

const keysMs = 60_000;
const devicesMax = 100;
/** Schemas are asked for one by one; devices that send the same keys have the same. */
const schemasMax = 6;

/** The device, tag, or place whose keys are offered: that of a variable is its value now. */
function shownSourceOf(
  { deviceId, tagId, placeId, variable }: TileSeries,
  { variables, values }: ShownVariables,
): ShownSource | undefined {
  if (deviceId) return { deviceId };
  if (tagId) return { tagId };
  if (placeId) return { placeId };
  const kind = variables.find(({ name }) => name === variable)?.kind;
  const [value] = values.get(variable ?? '') ?? [];
  if (value === undefined) return undefined;
  if (kind === 'DEVICE') return { deviceId: value };
  if (kind === 'TAG') return { tagId: value };
  return kind === 'PLACE' ? { placeId: value } : undefined;
}

type ShownSource =
  | { readonly deviceId: string }
  | { readonly tagId: string }
  | { readonly placeId: string };

const seriesKeys = (source: ShownSource | undefined) =>
  queryOptions({
    queryKey: ['series keys', source],
    enabled: source !== undefined,
    staleTime: keysMs,
    queryFn: async ({ signal }): Promise<readonly DataKey[]> => {
      if (source === undefined) return [];
      const ids = 'deviceId' in source ? [source.deviceId] : await kindsOf(source, signal);
      const schemas = await Promise.all(ids.map((id) => answers.fetchQuery(schemaQuery(id))));
      const keys = schemas.flatMap((schema) =>
        topicsOf(schema).flatMap((topic) => dataKeysOf(schema, topic)),
      );
      return [...new Map(keys.map((one) => [nameOf(one), one])).values()];
    },
  });

const nameOf = ({ topic, key }: Pick<DataKey, 'topic' | 'key'>): string =>
  JSON.stringify([topic, key]);

/** One device for each set of keys that devices of the tag or place sent last. */
async function kindsOf(
  group: Exclude<ShownSource, { readonly deviceId: string }>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const body = { ...group, size: devicesMax };
  const { content } = await ask(platform.POST('/v3/devices/query/latest', { signal, body }));
  const kinds = Map.groupBy(content, ({ samples }) =>
    JSON.stringify(
      samples.map(({ topic, data }) => JSON.stringify([topic, ...Object.keys(data)])).toSorted(),
    ),
  );
  const first = [...kinds.values()].flatMap(([one]) => one?.deviceId ?? []);
  return first.slice(0, schemasMax);
}

// Source fields: the device of a series, or what has devices that are one series each.

interface SourceFieldsProps {
  readonly workspaceId: string;
  readonly variables: ShownVariables;
  readonly kind: TileKind;
  readonly series: TileSeries;
  readonly change: (series: TileSeries) => void;
}

/** In the field of the source, a variable is its name behind this. */
const variablePrefix = 'variable ';

function SourceFields(props: SourceFieldsProps) {
  const { workspaceId, kind, series, change } = props;
  const words = useWords(formWords);
  const tags = useQuery(tagsOf(workspaceId)).data?.content ?? [];
  const places = useQuery(placesOf(workspaceId)).data ?? [];
  const variables = props.variables.variables.filter((one) => one.kind !== 'TEXT');
  const { series: count, isCalculated = false } = kinds[kind];
  const isGrouped = count === 'MANY' || isCalculated;
  const hasTags = sourceOf(series) === 'tag' || (isGrouped && tags.length > 0);
  const hasPlaces = sourceOf(series) === 'place' || (isGrouped && places.length > 0);
  const choose = (source: string) => {
    const variable = variables.find(({ name }) => `${variablePrefix}${name}` === source);
    const wanted =
      variable !== undefined
        ? { ...blankOf(kind, {}), variable: variable.name }
        : source === 'tag'
          ? blankOf(kind, { tagId: '' })
          : blankOf(kind, source === 'place' ? { placeId: '' } : {});
    const isOneValue = count === 'ONE' && isCombinable(kind, wanted, props.variables);
    change(isOneValue ? { ...wanted, across: 'AVG' } : wanted);
  };
  return (
    <>
      {(hasTags || hasPlaces || variables.length > 0) && (
        <SelectField
          label={words.source}
          value={sourceOf(series)}
          onChange={({ target }) => choose(target.value)}
        >
          <option value="device">{words.oneDevice}</option>
          {hasTags && <option value="tag">{words.devicesOfTag}</option>}
          {hasPlaces && <option value="place">{words.devicesOfPlace}</option>}
          {variables.map(({ name, label }) => (
            <option key={name} value={`${variablePrefix}${name}`}>
              {words.variable(label || name)}
            </option>
          ))}
        </SelectField>
      )}
      {sourceOf(series) === 'tag' && (
        <GroupField
          label={words.tag}
          value={series.tagId ?? ''}
          groups={tags}
          choose={({ id, name }) => change({ ...series, tagId: id, label: name })}
        />
      )}
      {sourceOf(series) === 'place' && (
        <GroupField
          label={words.place}
          value={series.placeId ?? ''}
          groups={places.map(({ id, path }) => ({ id, name: path }))}
          choose={({ id, name }) => change({ ...series, placeId: id, label: name })}
        />
      )}
      {sourceOf(series) === 'device' && <SeriesDevice {...props} />}
    </>
  );
}

/** A tag or place is empty until it is chosen. */
function sourceOf({ tagId, placeId, variable }: TileSeries): string {
  if (variable) return `${variablePrefix}${variable}`;
  if (typeof tagId === 'string') return 'tag';
  return typeof placeId === 'string' ? 'place' : 'device';
}

interface Group {
  readonly id: string;
  readonly name: string;
}

interface GroupFieldProps {
  readonly label: string;
  readonly value: string;
  readonly groups: readonly Group[];
  readonly choose: (group: Group) => void;
}

function GroupField({ label, value, groups, choose }: GroupFieldProps) {
  const words = useWords(formWords);
  return (
    <SelectField
      label={label}
      required
      value={value}
      onChange={({ target }) => {
        const group = groups.find(({ id }) => id === target.value);
        if (group !== undefined) choose(group);
      }}
    >
      <option value="" disabled>
        {words.chooseKey}
      </option>
      {groups.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}

function SeriesDevice({ workspaceId, kind, series, change }: SourceFieldsProps) {
  const words = useWords(formWords);
  const { deviceId } = series;
  const devices = useDevicesById(workspaceId, [deviceId ?? null]);
  const name = devices.get(deviceId ?? '')?.name;
  return (
    <div className="shrinks">
      <DevicePick
        workspaceId={workspaceId}
        label={words.device}
        chosen={name ?? deviceId ?? ''}
        choose={(device) =>
          change({
            ...(kind === 'map' ? blankOf(kind, {}) : series),
            deviceId: device.id,
            label: kind === 'map' ? device.name : labelAfter(series, name, device.name),
          })
        }
      />
    </div>
  );
}

/** A map finds the positions of its devices itself. */
function blankOf(kind: TileKind, source: Pick<TileSeries, 'tagId' | 'placeId'>): TileSeries {
  return { ...source, dataKey: kind === 'map' ? 'latitude' : '' };
}

/** A name that a person typed stays; that of the device before does not. */
function labelAfter({ label }: TileSeries, before: string | undefined, name: string): string {
  return label === null || label === undefined || label === '' || label === before ? name : label;
}
