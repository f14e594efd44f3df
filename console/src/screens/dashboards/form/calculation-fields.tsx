// Calculation fields: formulas over the values of a tile, by the names that these have.
import { useQuery } from '@tanstack/react-query';
import { ask, platform } from '../../../api/platform.ts';
import { TextField } from '../../../ui/field.tsx';
import { type FormulaError, FormulaField } from '../../../ui/formula-field.tsx';
import { useSettledValue } from '../../../ui/use-settled-value.ts';
import { useWords } from '../../../words/language.tsx';
import {
  kinds,
  seriesOf,
  type Tile,
  type TileCalculation,
  type TileKind,
  type TileSeries,
  type Variable,
} from '../../../../../src/dashboards/configuration.ts';
import { FieldRows } from './field-rows.tsx';
import { formWords } from './form-words.ts';
import { LookFields } from './series-fields.tsx';

const calculationsMost = 20;
/** Of a tile that shows one value. */
const calculationsOfOne = 1;

interface CalculationFieldsProps {
  readonly variables: readonly Variable[];
  readonly tile: Tile;
  readonly change: (tile: Tile) => void;
}

export function CalculationFields({ variables, tile, change }: CalculationFieldsProps) {
  const words = useWords(formWords);
  const refs = seriesOf(tile).flatMap(({ ref }) => ref || []);
  return (
    <FieldRows
      legend={words.calculations}
      rows={tile.calculations ?? []}
      least={0}
      most={kinds[tile.kind].series === 'ONE' ? calculationsOfOne : calculationsMost}
      addLabel={words.addCalculation}
      newRow={() => ({ as: '', expression: '' })}
      rowLabel={words.calculationNumber}
      removeLabel={words.removeCalculation}
      change={(calculations) =>
        change(withNames({ ...tile, calculations: [...calculations] }, variables))
      }
    >
      {(calculation, put) => (
        <CalculationInputs kind={tile.kind} refs={refs} calculation={calculation} change={put} />
      )}
    </FieldRows>
  );
}

interface CalculationInputsProps {
  readonly kind: TileKind;
  /** Names that the formula can read. */
  readonly refs: readonly string[];
  readonly calculation: TileCalculation;
  readonly change: (calculation: TileCalculation) => void;
}

function CalculationInputs({ kind, refs, calculation, change }: CalculationInputsProps) {
  const words = useWords(formWords);
  const { as, expression, unit } = calculation;
  const settled = useSettledValue(expression);
  const check = useQuery({
    queryKey: ['calculation', settled],
    enabled: settled.trim() !== '',
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      ask(platform.POST('/v3/expressions/check', { signal, body: { expression: settled } })),
  });
  const errorOf = (): FormulaError | undefined => {
    if (settled !== expression || check.data === undefined) return undefined;
    const { error, keys } = check.data;
    if (error !== null) return { ...error, expression };
    const unknown = keys.find((key) => !refs.includes(key.split('.', 1)[0] ?? ''));
    return unknown === undefined ? undefined : { message: words.noSuchName(unknown), expression };
  };
  return (
    <>
      <TextField
        label={words.label}
        maxLength={100}
        required
        value={as}
        onChange={({ target }) => change({ ...calculation, as: target.value })}
      />
      <div className="stack gap-8">
        <FormulaField
          label={words.formula}
          example="a - b"
          isRequired
          value={expression}
          change={(typed) => change({ ...calculation, expression: typed })}
          error={errorOf()}
        />
      </div>
      <TextField
        label={words.unit}
        maxLength={200}
        value={unit ?? ''}
        onChange={({ target }) => change({ ...calculation, unit: target.value })}
      />
      {kinds[kind].isDrawn && <LookFields kind={kind} look={calculation} change={change} />}
    </>
  );
}

/** Whether a series of the tile is one, of a device or of combined ones, so that calculations can name it. */
export function isOneSeries(
  { deviceId, variable, across }: TileSeries,
  { repeat }: Tile,
  variables: readonly Variable[],
): boolean {
  if (deviceId) return true;
  if (!variable) return Boolean(across);
  const { kind, multiple } = variables.find(({ name }) => name === variable) ?? {};
  const isOnce = multiple !== true || repeat === variable;
  return (kind === 'DEVICE' || Boolean(across)) && isOnce;
}

/** A new value of a tile with calculations is named by the next letter; a name that was emptied stays so. */
export function withNames(tile: Tile, variables: readonly Variable[]): Tile {
  if ((tile.calculations ?? []).length === 0) return tile;
  const taken = new Set(seriesOf(tile).flatMap(({ ref }) => ref ?? []));
  const series = seriesOf(tile).map((one) => {
    if (typeof one.ref === 'string' || !isOneSeries(one, tile, variables)) return one;
    const ref = nextName(taken);
    taken.add(ref);
    return { ...one, ref };
  });
  return { ...tile, series };
}

const lettersInAlphabet = 26;

/** `a` to `z`, then `a1` and so on. */
function nextName(taken: ReadonlySet<string>): string {
  for (let at = 0; ; at += 1) {
    const letter = String.fromCodePoint(97 + (at % lettersInAlphabet));
    const name = at < lettersInAlphabet ? letter : letter + Math.floor(at / lettersInAlphabet);
    if (!taken.has(name)) return name;
  }
}

export function hasCalculationsComplete(tile: Tile): boolean {
  const calculations = shownCalculations(tile);
  const refs = seriesOf(tile).flatMap(({ ref }) => ref || []);
  return (
    calculations.every(({ as, expression }) => as.trim() !== '' && expression.trim() !== '') &&
    new Set(calculations.map(({ as }) => as)).size === calculations.length &&
    (calculations.length === 0 || new Set(refs).size === refs.length)
  );
}

function shownCalculations({ kind, calculations }: Tile): readonly TileCalculation[] {
  if (kinds[kind].isCalculated !== true) return [];
  return (calculations ?? []).slice(
    0,
    kinds[kind].series === 'ONE' ? calculationsOfOne : calculationsMost,
  );
}

/** Names belong to calculations, and hidden values too. */
export function calculatingPart(
  tile: Tile,
  variables: readonly Variable[],
): Required<Pick<Tile, 'series'>> & Pick<Tile, 'calculations'> {
  const calculations = shownCalculations(tile).map(({ unit, ...one }) => ({
    ...one,
    ...(unit && { unit }),
  }));
  const series = seriesOf(tile).map(({ ref, hidden, ...one }) => ({
    ...one,
    ...(calculations.length > 0 && ref && isOneSeries(one, tile, variables)
      ? { ref, ...(hidden === true && { hidden }) }
      : {}),
  }));
  return { series, ...(calculations.length > 0 && { calculations }) };
}
