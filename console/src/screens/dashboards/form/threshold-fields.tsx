// Threshold fields: from which number on a value is good, a warning or bad, and how that is called.
import { Plus, X } from 'lucide-react';
import { Button } from '../../../parts/button.tsx';
import { SelectField, TextField } from '../../../parts/field.tsx';
import { useWords } from '../../../words/language.tsx';
import type { Threshold, Tone } from '../dashboard-model.ts';
import { tileWords } from '../tiles/tile-words.ts';
import { formWords } from './form-words.ts';
import styles from './form.module.css';

const tones = ['OK', 'WARNING', 'BAD'] as const satisfies readonly Tone[];
const thresholdsMax = 20;

interface ThresholdFieldsProps {
  readonly thresholds: readonly Threshold[];
  readonly change: (thresholds: readonly Threshold[]) => void;
}

export function ThresholdFields({ thresholds, change }: ThresholdFieldsProps) {
  const words = useWords(formWords);
  const add = () => {
    const last = thresholds.at(-1);
    const tone = tones[Math.min(tones.length - 1, thresholds.length)] ?? 'BAD';
    change([...thresholds, { from: (last?.from ?? 0) + (last === undefined ? 0 : 10), tone }]);
  };
  return (
    <fieldset className={styles['group']}>
      <legend>{words.thresholds}</legend>
      {thresholds.map((threshold, at) => (
        <ThresholdRow
          // Its place in a list of this length: after a removal the fields are rebuilt.
          key={`${at} of ${thresholds.length}`}
          threshold={threshold}
          number={at + 1}
          change={(changed) => change(thresholds.with(at, changed))}
          remove={() => change(thresholds.toSpliced(at, 1))}
        />
      ))}
      {thresholds.length < thresholdsMax && (
        <div>
          <Button onClick={add}>
            <Plus aria-hidden="true" />
            {words.addThreshold}
          </Button>
        </div>
      )}
    </fieldset>
  );
}

interface ThresholdRowProps {
  readonly threshold: Threshold;
  readonly number: number;
  readonly change: (threshold: Threshold) => void;
  readonly remove: () => void;
}

function ThresholdRow({ threshold, number, change, remove }: ThresholdRowProps) {
  const words = useWords(formWords);
  const toneNames = useWords(tileWords).tones;
  return (
    <div className={styles['row']}>
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
      <span className={styles['remove']}>
        <Button
          look="ghost"
          isIcon
          aria-label={words.removeThreshold(number)}
          title={words.removeThreshold(number)}
          onClick={remove}
        >
          <X aria-hidden="true" />
        </Button>
      </span>
    </div>
  );
}
