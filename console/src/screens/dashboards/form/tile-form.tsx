// Tile form: what a tile shows, of which devices, how it is summed up, and what its numbers mean.
import { useState } from 'react';
import { CheckField, SelectField, TextArea, TextField } from '../../../ui/field.tsx';
import { FormDialog } from '../../../ui/dialog.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import { bucketLengths } from '../../../../../src/dashboards/buckets.ts';
import {
  kinds,
  seriesOf,
  type Threshold,
  type Tile,
  type TileKind,
  type TileSeries,
  type Tone,
  valueOf,
  type Variable,
} from '../../../../../src/dashboards/configuration.ts';
import { isControlComplete } from '../../../../../src/dashboards/control.ts';
import { bucketOf } from '../../../../../src/dashboards/plan.ts';
import { columns } from '../grid/layout.ts';
import { tileWords } from '../tiles/tile-words.ts';
import { formWords } from './form-words.ts';
import styles from './form.module.css';
import type { ShownVariables } from '../variable-values.ts';
import {
  calculatingPart,
  CalculationFields,
  hasCalculationsComplete,
  isOneSeries,
  withNames,
} from './calculation-fields.tsx';
import { FieldRows } from './field-rows.tsx';
import { KindFields, TitleLinkFields } from './kind-fields.tsx';
import { blankSeries, SeriesFields, withoutExpected } from './series-fields.tsx';

const offeredKinds = [
  'value',
  'line',
  'bar',
  'gauge',
  'state',
  'timeline',
  'histogram',
  'heatmap',
  'map',
  'table',
  'devices',
  'alarms',
  'plan',
  'control',
  'links',
  'text',
] as const satisfies readonly TileKind[];

interface TileFormProps {
  readonly workspaceId: string;
  readonly variables: ShownVariables;
  readonly tile: Tile;
  readonly isNew: boolean;
  readonly save: (tile: Tile) => void;
  readonly close: () => void;
}

export function TileForm(props: TileFormProps) {
  const { workspaceId, variables, tile, isNew, save, close } = props;
  const words = useWords(formWords);
  const declared = variables.variables;
  const [edited, setEdited] = useState<Tile>(() =>
    isNew && seriesOf(tile).length === 0 ? { ...tile, series: [blankSeries] } : tile,
  );
  const [isTried, setTried] = useState(false);
  const isWhole = isComplete(edited);
  const apply = () => {
    setTried(true);
    if (!isWhole) return;
    save(cleaned(edited, declared));
    close();
  };
  return (
    <FormDialog
      title={isNew ? words.newTile : words.change}
      isWide
      submitLabel={words.apply}
      submit={apply}
      close={close}
    >
      <BasicFields tile={edited} isNew={isNew} change={setEdited} />
      {edited.kind === 'text' ? (
        <TextArea
          label={words.text}
          hint={words.textHint}
          rows={6}
          required
          value={edited.text ?? ''}
          onChange={({ target }) => setEdited({ ...edited, text: target.value })}
        />
      ) : kinds[edited.kind].series === 'NONE' ? null : (
        <SeriesFields
          workspaceId={workspaceId}
          variables={variables}
          kind={edited.kind}
          series={seriesOf(edited)}
          isCalculating={calculatingPart(edited, declared).calculations !== undefined}
          isNamed={(one) =>
            calculatingPart(edited, declared).calculations !== undefined &&
            isOneSeries(one, edited, declared)
          }
          change={(series) => setEdited(withNames({ ...edited, series: [...series] }, declared))}
        />
      )}
      {kinds[edited.kind].isCalculated === true && (
        <CalculationFields variables={declared} tile={edited} change={setEdited} />
      )}
      <KindFields
        workspaceId={workspaceId}
        variables={variables}
        tile={edited}
        change={setEdited}
      />
      {kinds[edited.kind].isDrawn === true && <BucketField tile={edited} change={setEdited} />}
      {kinds[edited.kind].hasThresholds === true && (
        <ThresholdFields
          thresholds={edited.thresholds ?? []}
          change={(thresholds) => setEdited({ ...edited, thresholds: [...thresholds] })}
        />
      )}
      <RepeatField tile={edited} variables={variables} change={setEdited} />
      {kinds[edited.kind].isDrawn === true && <ChartFields tile={edited} change={setEdited} />}
      {kinds[edited.kind].isDrawn === true && <AxisFields tile={edited} change={setEdited} />}
      <TitleLinkFields
        workspaceId={workspaceId}
        variables={variables}
        tile={edited}
        change={setEdited}
      />
      {isTried && !isWhole && (
        <p role="alert" className="bad text-label">
          {faultIn(edited, words)}
        </p>
      )}
    </FormDialog>
  );
}

interface BasicFieldsProps {
  readonly tile: Tile;
  readonly isNew: boolean;
  readonly change: (tile: Tile) => void;
}

function BasicFields({ tile, isNew, change }: BasicFieldsProps) {
  const words = useWords(formWords);
  const names = useWords(tileWords).kinds;
  const choose = (name: string) => {
    const kind = offeredKinds.find((one) => one === name) ?? tile.kind;
    const [width, height] = kinds[kind].size;
    const size = isNew ? { width, height, x: Math.min(tile.x, columns - width) } : {};
    const isOne = kinds[kind].series === 'ONE' && (tile.calculations ?? []).length === 0;
    const series = isOne ? seriesOf(tile).slice(0, 1) : seriesOf(tile);
    const rows = {
      ...(kind === 'devices' && !tile.columns && { columns: [{ dataKey: '' }] }),
      ...(kind === 'links' && !tile.links && { links: [{ label: '', url: '' }] }),
      ...(kind === 'control' && !tile.downlink && { downlink: { mqttDownlink: { payload: {} } } }),
    };
    change({ ...tile, ...size, ...rows, kind, series: [...series] });
  };
  return (
    <div className={`columns align-start gap-12 ${styles['pair']}`}>
      <SelectField
        label={words.kind}
        value={tile.kind}
        onChange={({ target }) => choose(target.value)}
      >
        {offeredKinds.map((kind) => (
          <option key={kind} value={kind}>
            {names[kind]}
          </option>
        ))}
      </SelectField>
      <TextField
        label={words.title}
        hint={tile.kind === 'text' ? undefined : words.titleHint}
        maxLength={200}
        value={tile.title ?? ''}
        onChange={({ target }) => change({ ...tile, title: target.value })}
      />
    </div>
  );
}

const thresholdStyles = ['LINE', 'BAND', 'NONE'] as const;
const figures = ['LAST', 'MIN', 'AVG', 'MAX', 'SUM'] as const;

/** How thresholds are drawn, and what the legend says of each line. */
function ChartFields({ tile, change }: BucketFieldProps) {
  const words = useWords(formWords);
  const chosen = tile.legend?.figures ?? [];
  return (
    <>
      {(tile.thresholds ?? []).length > 0 && (
        <SelectField
          label={words.thresholdStyle}
          value={tile.thresholdStyle ?? 'LINE'}
          onChange={({ target }) =>
            change({
              ...tile,
              thresholdStyle: thresholdStyles.find((one) => one === target.value) ?? 'LINE',
            })
          }
        >
          {thresholdStyles.map((style) => (
            <option key={style} value={style}>
              {words.thresholdStyles[style]}
            </option>
          ))}
        </SelectField>
      )}
      <fieldset className="row wrap gap-12">
        <legend className="text-label">{words.legendFigures}</legend>
        {figures.map((figure) => (
          <CheckField
            key={figure}
            label={words.figures[figure]}
            isOn={chosen.includes(figure)}
            change={(isOn) => {
              const wanted = figures.filter((one) =>
                one === figure ? isOn : chosen.includes(one),
              );
              change({ ...tile, legend: { ...tile.legend, figures: wanted } });
            }}
          />
        ))}
      </fieldset>
    </>
  );
}

type Axes = NonNullable<Tile['axes']>;
type Axis = NonNullable<Axes['left']>;
const scales = ['LINEAR', 'LOG'] as const;
const ends = ['min', 'max'] as const;

/** The right axis has fields once a series is on it. */
function AxisFields({ tile, change }: BucketFieldProps) {
  const words = useWords(formWords);
  const hasRight = seriesOf(tile).some(({ axis }) => axis === 'RIGHT');
  const sides = hasRight ? (['left', 'right'] as const) : (['left'] as const);
  const put = (side: keyof Axes, axis: Axis) =>
    change({ ...tile, axes: { ...tile.axes, [side]: axis } });
  return (
    <fieldset className={`stack gap-12 ${styles['group']}`}>
      <legend>{words.axes}</legend>
      {sides.map((side) => {
        const axis = tile.axes?.[side] ?? {};
        const name = words.sides[side === 'left' ? 'LEFT' : 'RIGHT'];
        return (
          <div
            key={side}
            className={`columns align-start ${styles['row']}`}
            role="group"
            aria-label={words.axisOf(name)}
          >
            {ends.map((end) => (
              <TextField
                key={end}
                label={end === 'min' ? words.least : words.greatest}
                type="number"
                step="any"
                placeholder={words.automaticBucket}
                defaultValue={axis[end] ?? ''}
                onChange={({ target }) => {
                  const { [end]: _, ...others } = axis;
                  const isNone = target.value === '';
                  put(side, isNone ? others : { ...others, [end]: target.valueAsNumber });
                }}
              />
            ))}
            <TextField
              label={hasRight ? words.axisLabel(name) : words.label}
              maxLength={200}
              value={axis.label ?? ''}
              onChange={({ target }) => put(side, { ...axis, label: target.value })}
            />
            <SelectField
              label={words.scale}
              value={axis.scale ?? 'LINEAR'}
              onChange={({ target }) =>
                put(side, {
                  ...axis,
                  scale: scales.find((one) => one === target.value) ?? 'LINEAR',
                })
              }
            >
              {scales.map((scale) => (
                <option key={scale} value={scale}>
                  {words.scales[scale]}
                </option>
              ))}
            </SelectField>
          </div>
        );
      })}
    </fieldset>
  );
}

/** Undefined for axes of which nothing is named. */
function namedAxes(axes: Tile['axes']): Axes | undefined {
  const named = Object.entries(axes ?? {}).flatMap(([side, axis]) => {
    if (!axis) return [];
    const { min, max, label, scale } = axis;
    const own: Axis = {
      ...(typeof min === 'number' && { min }),
      ...(typeof max === 'number' && { max }),
      ...(label && { label }),
      ...(scale === 'LOG' && { scale }),
    };
    return Object.keys(own).length === 0 ? [] : [[side, own] as const];
  });
  return named.length === 0 ? undefined : Object.fromEntries(named);
}

/** Where both ends are named, the first is below the second. */
function isRising(axis: Axis | null | undefined): boolean {
  const { min, max } = axis ?? {};
  return typeof min !== 'number' || typeof max !== 'number' || min < max;
}

interface RepeatFieldProps {
  readonly tile: Tile;
  readonly variables: ShownVariables;
  readonly change: (tile: Tile) => void;
}

/** Only where a variable has several values. */
function RepeatField({ tile: { repeat, ...tile }, variables, change }: RepeatFieldProps) {
  const words = useWords(formWords);
  const several = variables.variables.filter(({ multiple }) => multiple === true);
  if (several.length === 0 && !repeat) return null;
  return (
    <SelectField
      label={words.repeat}
      value={repeat ?? ''}
      onChange={({ target: { value } }) => change(value === '' ? tile : { ...tile, repeat: value })}
    >
      <option value="">{words.repeatNever}</option>
      {several.map(({ name, label }) => (
        <option key={name} value={name}>
          {words.repeatFor(label || name)}
        </option>
      ))}
    </SelectField>
  );
}

interface BucketFieldProps {
  readonly tile: Tile;
  readonly change: (tile: Tile) => void;
}

/** A length that another client chose is offered too. */
function BucketField({ tile: { bucketInterval, ...tile }, change }: BucketFieldProps) {
  const words = useWords(formWords);
  const { duration } = useFormats();
  const named = bucketOf(bucketInterval ?? '');
  const others = bucketLengths.filter(({ iso }) => iso !== named?.iso);
  const lengths = [...others, ...(named === undefined ? [] : [named])];
  return (
    <SelectField
      label={words.bucket}
      hint={words.bucketHint}
      value={named?.iso ?? ''}
      onChange={({ target: { value } }) =>
        change(value === '' ? tile : { ...tile, bucketInterval: value })
      }
    >
      <option value="">{words.automaticBucket}</option>
      {lengths
        .toSorted((a, b) => a.seconds - b.seconds)
        .map(({ iso, seconds }) => (
          <option key={iso} value={iso}>
            {duration(seconds)}
          </option>
        ))}
    </SelectField>
  );
}

function isComplete(tile: Tile): boolean {
  if (tile.kind === 'text') return (tile.text ?? '').trim() !== '';
  if (tile.kind === 'gauge' && (tile.min ?? 0) >= (tile.max ?? 100)) return false;
  if (tile.kind === 'control') return isControlComplete(tile);
  if (tile.kind === 'plan') return Boolean(tile.placeId || tile.variable || tile.blobId);
  if (tile.kind === 'devices') return (tile.columns ?? []).length > 0;
  if (tile.kind === 'links') return (tile.links ?? []).length > 0;
  if (kinds[tile.kind].series === 'NONE') return true;
  if (isAxisWrong(tile) || !hasCalculationsComplete(tile)) return false;
  const series = seriesOf(tile);
  const isNamed = ({ deviceId, tagId, placeId, variable }: TileSeries) =>
    Boolean(deviceId || tagId || placeId || variable);
  return series.length > 0 && series.every((one) => isNamed(one) && valueOf(one) !== '');
}

function isAxisWrong({ kind, axes }: Tile): boolean {
  return kinds[kind].isDrawn === true && !(isRising(axes?.left) && isRising(axes?.right));
}

/** Only lines have a range around them, and not every kind combines devices. */
function shownIn(kind: TileKind, { across, ...series }: TileSeries): TileSeries {
  const combined = across && kinds[kind].isCalculated === true ? { ...series, across } : series;
  return kind === 'line' ? combined : withoutExpected(combined);
}

/** Without what belongs to another kind. */
function cleaned(edited: Tile, variables: readonly Variable[]): Tile {
  if (edited.kind === 'control') return controlOf(edited);
  if (edited.kind === 'plan') return planOf(edited);
  const {
    text,
    series: _series,
    thresholds,
    bucketInterval,
    min,
    max,
    columns,
    links,
    ...others
  } = edited;
  const {
    thresholdStyle,
    legend,
    axes,
    track,
    colorBy: _color,
    calculations: _all,
    ...tile
  } = others;
  const { series: named, ...calculating } = calculatingPart(edited, variables);
  const shownAxes = namedAxes(axes);
  const { kind } = tile;
  const { variable: _, ...unsourced } = tile;
  if (kind === 'text') return { ...unsourced, text: text ?? '' };
  if (kind === 'devices') return { ...tile, columns: columns ?? [] };
  if (kind === 'alarms') return tile;
  if (kind === 'links') return { ...unsourced, links: links ?? [] };
  const sorted = (thresholds ?? []).toSorted((a, b) => a.from - b.from);
  return {
    ...unsourced,
    series: (named ?? []).map((one) => shownIn(kind, one)),
    ...calculating,
    ...(kind === 'map' && track === true && { track }),
    ...(kind === 'gauge' && { min: min ?? 0, max: max ?? 100 }),
    ...(kinds[kind].isDrawn && bucketInterval ? { bucketInterval } : {}),
    ...(kinds[kind].isDrawn && thresholdStyle ? { thresholdStyle } : {}),
    ...(kinds[kind].isDrawn && legend ? { legend } : {}),
    ...(kinds[kind].isDrawn && shownAxes ? { axes: shownAxes } : {}),
    ...(kinds[kind].hasThresholds && sorted.length > 0 ? { thresholds: sorted } : {}),
  };
}

/** Only what a control has, so that it names no other device. */
function controlOf(edited: Tile): Tile {
  const { id, kind, title, x, y, width, height, repeat, deviceId, variable } = edited;
  const { label, downlink, input, confirm } = edited;
  return {
    id,
    kind,
    x,
    y,
    width,
    height,
    label: label ?? '',
    downlink: downlink ?? {},
    ...(title && { title }),
    ...(repeat && { repeat }),
    ...(variable ? { variable } : { deviceId: deviceId ?? '' }),
    ...(input && { input }),
    ...(confirm === false && { confirm }),
  };
}

function planOf(edited: Tile): Tile {
  const { id, kind, title, x, y, width, height, repeat } = edited;
  const { placeId, variable, blobId, marks, colorBy } = edited;
  return {
    id,
    kind,
    x,
    y,
    width,
    height,
    ...(title && { title }),
    ...(repeat && { repeat }),
    ...(placeId && { placeId }),
    ...(variable && { variable }),
    ...(blobId && { blobId }),
    ...(marks && { marks }),
    ...(colorBy && { colorBy }),
  };
}

type Faults =
  | 'axisWrong'
  | 'calculationWrong'
  | 'controlIncomplete'
  | 'incomplete'
  | 'planIncomplete';

function faultIn(tile: Tile, words: Readonly<Record<Faults, string>>): string {
  const { kind } = tile;
  if (isAxisWrong(tile)) return words.axisWrong;
  if (!hasCalculationsComplete(tile)) return words.calculationWrong;
  if (kind === 'control') return words.controlIncomplete;
  return kind === 'plan' ? words.planIncomplete : words.incomplete;
}

// Threshold fields: from which number on a value is good, a warning or bad, and how that is called.

const tones = ['OK', 'WARNING', 'BAD'] as const satisfies readonly Tone[];
const thresholdsMax = 20;

interface ThresholdFieldsProps {
  readonly thresholds: readonly Threshold[];
  readonly change: (thresholds: readonly Threshold[]) => void;
}

function ThresholdFields({ thresholds, change }: ThresholdFieldsProps) {
  const words = useWords(formWords);
  const newThreshold = () => {
    const last = thresholds.at(-1);
    const tone = tones[Math.min(tones.length - 1, thresholds.length)] ?? 'BAD';
    return { from: (last?.from ?? 0) + (last === undefined ? 0 : 10), tone };
  };
  return (
    <FieldRows
      legend={words.thresholds}
      rows={thresholds}
      least={0}
      most={thresholdsMax}
      addLabel={words.addThreshold}
      newRow={newThreshold}
      rowLabel={words.thresholdNumber}
      removeLabel={words.removeThreshold}
      change={change}
    >
      {(threshold, put) => <ThresholdInputs threshold={threshold} change={put} />}
    </FieldRows>
  );
}

interface ThresholdProps {
  readonly threshold: Threshold;
  readonly change: (threshold: Threshold) => void;
}

function ThresholdInputs({ threshold, change }: ThresholdProps) {
  const words = useWords(formWords);
  const toneNames = useWords(tileWords).tones;
  return (
    <>
      <TextField
        label={words.from}
        type="number"
        step="any"
        required
        defaultValue={threshold.from}
        onChange={({ target }) => {
          if (!Number.isNaN(target.valueAsNumber))
            change({ ...threshold, from: target.valueAsNumber });
        }}
      />
      <SelectField
        label={words.tone}
        value={threshold.tone}
        onChange={({ target }) =>
          change({
            ...threshold,
            tone: tones.find((one) => one === target.value) ?? threshold.tone,
          })
        }
      >
        {tones.map((tone) => (
          <option key={tone} value={tone}>
            {toneNames[tone]}
          </option>
        ))}
      </SelectField>
      <TextField
        label={words.thresholdLabel}
        maxLength={100}
        value={threshold.label ?? ''}
        onChange={({ target }) => change({ ...threshold, label: target.value })}
      />
    </>
  );
}
