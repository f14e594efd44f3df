// Shown value: a value of any type in a word, and the chip of the threshold that it reached.
import type { Threshold, Tone } from '../../../../../src/dashboards/configuration.ts';
import { Chip, type Tone as ChipTone } from '../../../ui/chip.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import { tileWords } from './tile-words.ts';

export function Shown({ value }: { readonly value: unknown }) {
  return useShown()(value);
}

/** The word of a value. */
export function useShown(): (value: unknown) => string {
  const words = useWords(tileWords);
  const formats = useFormats();
  return (value) => {
    if (value === undefined || value === null) return words.none;
    if (typeof value === 'number') return formats.value(value);
    if (typeof value === 'boolean') return value ? words.isTrue : words.isFalse;
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
}

const tones: Readonly<Record<Tone, ChipTone>> = { OK: 'ok', WARNING: 'warn', BAD: 'bad' };

export function ThresholdChip({ threshold }: { readonly threshold: Threshold | undefined }) {
  const words = useWords(tileWords);
  if (threshold === undefined) return null;
  const { tone, label } = threshold;
  const hasLabel = label !== null && label !== undefined && label !== '';
  return <Chip tone={tones[tone]}>{hasLabel ? label : words.tones[tone]}</Chip>;
}
