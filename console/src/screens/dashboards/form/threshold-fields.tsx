// Threshold fields: from which number on a value is good, a warning or bad, and how that is called.
import { SelectField, TextField } from '../../../parts/field.tsx';
import { useWords } from '../../../words/language.tsx';
import type { Threshold, Tone } from '../dashboard-model.ts';
import { tileWords } from '../tiles/tile-words.ts';
import { FieldRows } from './field-rows.tsx';
import { formWords } from './form-words.ts';

const tones = ['OK', 'WARNING', 'BAD'] as const satisfies readonly Tone[];
const thresholdsMax = 20;

interface ThresholdFieldsProps {
  readonly thresholds: readonly Threshold[];
  readonly change: (thresholds: readonly Threshold[]) => void;
}

export function ThresholdFields({ thresholds, change }: ThresholdFieldsProps) {
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
